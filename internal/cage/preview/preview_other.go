//go:build !linux

package preview

import (
	"context"
	"fmt"
	"runtime"

	"github.com/clawai/clawai/internal/cage/preview/report"
)

func run(context.Context, Options) (*report.Result, error) {
	return nil, fmt.Errorf("commands have no preview on %s", runtime.GOOS)
}
