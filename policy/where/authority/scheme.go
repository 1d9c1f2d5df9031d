package authority

// DefaultPort returns the default port of a scheme in lower case. special is true for special
// schemes (WHATWG URL standard), except file. After a special scheme, parsers find a host with or
// without slashes; a file URL has no host.
func DefaultPort(scheme string) (port string, special bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	}
	return "", false
}

// ConnectsToHost reports whether programs connect to the host in a URL with this scheme, given in
// lower case. With any other scheme the text in the place of the host may be a bucket, a filter or
// a comment: in javascript://example.com/%0a... it is a comment, and a program follows.
func ConnectsToHost(scheme string) bool {
	switch scheme {
	case "amqp", "amqps", "cassandra", "cifs", "clickhouse", "coap", "coaps", "dav", "davs", "dict", "ftps",
		"git", "git+http", "git+https", "git+ssh", "gopher", "grpc", "grpcs", "imap", "imaps", "irc", "ircs",
		"kafka", "ldap", "ldaps", "mariadb", "memcached", "mongodb", "mqtt", "mqtts", "mysql", "nats", "nfs",
		"pop3", "pop3s", "postgres", "postgresql", "rdp", "redis", "rediss", "rsync", "rtmp", "rtmps", "rtsp",
		"rtsps", "sftp", "smb", "smtp", "smtps", "socks5", "ssh", "svn", "svn+ssh", "tcp", "telnet", "tftp",
		"tls", "udp", "vnc", "webcal":
		return true
	}
	_, special := DefaultPort(scheme)
	return special
}
