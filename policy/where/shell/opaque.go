package shell

// opaque are the programs and builtins that exist to run something else, or can
// be made to from a file or a prompt, in ways that are not read here (see
// GTFOBins): only a pattern without wildcards opens them. The builtins among
// them change what later commands mean, or evaluate subscripts (a[$(id)]).
var opaque = set(`
	trap alias unalias set shopt setopt unsetopt enable hash bind complete compgen compopt fc history jobs
	read mapfile readarray unset getopts let declare typeset local export readonly nameref wait integer float
	emulate zmodload autoload zle vared print zcompile zstyle sched functions noglob nocorrect repeat foreach coproc -
	su pkexec runuser machinectl systemd-run start-stop-daemon run0 ssh sshpass mosh telnet autossh sftp ftp lftp
	parallel watch script scriptreplay flock chroot unshare nsenter setpriv capsh runcon firejail bwrap proot fakeroot
	strace ltrace gdb lldb perf valgrind rr bpftrace ftrace gcore
	vim vi view rvim rview vimdiff ex ed nvim nano pico emacs emacsclient micro joe helix hx kak mg red
	less more most pg pager ranger mc nnn vifm screen tmux tmate zellij byobu dtach abduco
	expect tclsh wish osascript powershell pwsh cmd wsl cscript wscript mshta rundll32 start
	irb ghci ghc runghc runhaskell scala jshell jrunscript groovy rscript r octave maxima gp gnuplot erl elixir iex
	sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli sqlplus duckdb
	openssl crontab at batch run-parts run-mailcap xdg-open open mail mailx mutt sendmail
	entr watchexec nodemon watchman inotifywait rlwrap socat nc ncat netcat torify torsocks proxychains
	dbus-run-session xvfb-run ansible ansible-playbook vagrant puppet
	nix-shell nix-build guix direnv gimp dosbox wine qemu screenfetch neofetch tcpdump tshark nmap zsoelim
	pip-run act rake gradle gradlew mvn ant sbt bazel buck ninja meson scons cmake ctest tox nox pre-commit husky
	busctl gcloud aws cpulimit cpan cpanm easy_install gem facter dpkg rpm apt apt-get yum dnf snap
	awless dc bc m4 cpp as-needed ld ld.so ldd eqn troff groff nroff pdflatex latex tex lualatex pdftex
	finger whois wall write ginsh loginctl systemctl service journalctl timedatectl logrotate logsave
	multitime nsupdate pexec pandoc pdb posh restic rsync-ssl tasksh terraform terragrunt tofu pulumi
	volatility xelatex xetex xpad yarnpkg zypper zathura xdotool xterm gnome-terminal kitty alacritty wezterm
	aa-exec agetty choom setarch linux32 linux64 prlimit numactl cset systemd-nspawn systemd-inhibit ssh-agent sg ksu
	setlock softlimit envdir setuidgid chpst gosu su-exec tini dumb-init sem hyperfine sandbox-exec launchctl
	op doppler infisical dotenv chamber aws-vault consul nomad lxc incus multipass limactl colima runc crictl ctr buildah
	gs ghostscript ps2pdf mlr slsh smbclient msgfilter msgexec sqlmap rpmdb rpmquery rpmverify openvpn latexmk luatex
	mitmproxy mitmdump blender mpv just task tig lazygit gitui stack cabal knife pry byebug rtorrent kustomize`)
