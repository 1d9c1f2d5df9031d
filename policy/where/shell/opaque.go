package shell

// These programs and builtins run something else, because this is their purpose, or because a file
// or a prompt can make them do so (see GTFOBins). This package does not read what they run. So only
// a pattern without wildcards allows them. The builtins among them change the meaning of later
// commands, or evaluate subscripts (a[$(id)]).
const (
	// handing are the programs whose words or input are a command, or a text in another language. A
	// deny or prompt rule cannot read what they run.
	handing = `
	trap hash bind complete compgen compopt fc history mapfile readarray enable emulate zmodload autoload zle sched
	functions noglob nocorrect repeat foreach coproc - alias su pkexec runuser machinectl systemd-run start-stop-
	daemon run0 ssh sshpass mosh telnet autossh parallel watch script scriptreplay flock chroot unshare nsenter
	setpriv capsh runcon firejail bwrap proot fakeroot strace ltrace gdb lldb perf valgrind rr bpftrace ftrace
	gcore red ed ex screen tmux tmate zellij byobu dtach abduco expect tclsh wish osascript powershell pwsh cmd wsl
	cscript wscript mshta rundll32 start irb ghci ghc runghc runhaskell scala jshell jrunscript groovy rscript r
	octave maxima gp gnuplot erl elixir iex crontab at batch run-parts run-mailcap entr watchexec nodemon watchman
	inotifywait rlwrap socat torify torsocks proxychains dbus-run-session xvfb-run ansible nix-shell guix wine pip-
	run act cpulimit m4 multitime pexec logsave ginsh aa-exec choom setarch linux32 linux64 prlimit numactl
	cset systemd-nspawn systemd-inhibit ssh-agent sg ksu setlock softlimit envdir setuidgid chpst gosu su-exec tini
	dumb-init sem hyperfine sandbox-exec op doppler infisical dotenv chamber aws-vault lxc incus multipass limactl
	colima runc crictl ctr buildah slsh msgfilter msgexec sqlmap tasksh knife pry byebug xterm gnome-terminal kitty
	alacritty wezterm ld.so ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl-x86_64.so ld-musl-aarch64.so
	qemu-x86_64 qemu-aarch64 qemu-arm qemu-i386 faketime catchsegv cross-env cross-env-shell concurrently npm-run-all sqlite3
	salt salt-call salt-ssh envchain envconsul summon dotenvx teller aws-okta lima fakechroot eatmydata systemd-cat srun
	salloc sbatch bsub mpirun mpiexec tsocks trickle dbus-launch ifne pee s6-setuidgid s6-envdir daemonize dockerize
	heaptrack reflex start-server-and-test`
	// opaque are the other programs. A deny or prompt rule judges only their words.
	opaque = `
	unalias set shopt setopt unsetopt jobs read unset getopts let declare typeset local export readonly nameref
	wait integer float vared print zcompile zstyle sftp ftp lftp vim vi view rvim rview vimdiff nvim nano pico
	emacs emacsclient micro joe helix hx kak mg less more most pg pager ranger mc nnn vifm psql mysql mariadb mongo
	mongosh redis-cli sqlplus duckdb openssl xdg-open open mail mailx mutt sendmail nc ncat netcat ansible-playbook
	vagrant puppet nix-build direnv gimp dosbox qemu screenfetch neofetch tcpdump tshark nmap zsoelim rake gradle
	gradlew mvn ant sbt bazel buck ninja meson scons cmake ctest tox nox pre-commit husky busctl gcloud cpan cpanm
	easy_install gem facter dpkg rpm apt apt-get yum dnf snap awless dc bc cpp as-needed ld ldd eqn troff groff
	nroff pdflatex latex tex lualatex pdftex finger whois wall write loginctl systemctl service journalctl timedatectl
	logrotate nsupdate pandoc pdb restic rsync-ssl terragrunt pulumi volatility xelatex xetex xpad zypper zathura
	xdotool agetty launchctl consul nomad gs ghostscript ps2pdf mlr smbclient rpmdb rpmquery rpmverify openvpn
	latexmk luatex mitmproxy mitmdump blender mpv just task tig lazygit gitui info stack cabal rtorrent
	kustomize`
)
