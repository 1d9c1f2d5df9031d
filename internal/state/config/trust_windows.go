package config

import "os"

const (
	openFlags = os.O_RDONLY
	lookFlags = openFlags
)
