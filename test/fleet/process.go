//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat. It is the same on every Linux that Go supports
// (USER_HZ is 100).
const tick = 10 * time.Millisecond

// readStat returns the fields of /proc/PID/stat that follow the name of the process.
func readStat(process int) ([]string, error) {
	src, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(src[bytes.LastIndexByte(src, ')')+1:])), nil
}

// ticksOf returns the sum of some fields of /proc/PID/stat. fields are the numbers of these fields
// in proc(5).
func ticksOf(stat []string, fields ...int) (sum time.Duration) {
	for _, field := range fields {
		n, _ := strconv.ParseInt(stat[field-3], 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}

// readCPU returns the processor time that a process has used. If children is true, it adds the time
// of the process's children, including those that have ended.
func readCPU(process int, children bool) (time.Duration, error) {
	stat, err := readStat(process)
	if err != nil {
		return 0, err
	}
	if !children {
		return ticksOf(stat, 14, 15), nil
	}
	used := ticksOf(stat, 14, 15, 16, 17)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		id, _ := strconv.Atoi(filepath.Base(path))
		if child, err := readStat(id); err == nil && child[4-3] == strconv.Itoa(process) {
			used += ticksOf(child, 14, 15)
		}
	}
	return used, nil
}

// readResident returns the resident memory of a process in bytes.
func readResident(process int) (int64, error) {
	src, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(src))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// readLoad returns the load average of the last minute as a text.
func readLoad() string {
	src, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(src), " ")
	return load
}

// usage is the processor time that the centre and its database have used.
type usage struct{ centre, database time.Duration }

func (c *centre) readUsage() (u usage, err error) {
	if u.centre, err = readCPU(c.process.Process.Pid, false); err != nil {
		return u, err
	}
	first, err := c.postgres.Process()
	if err == nil {
		u.database, err = readCPU(first, true)
	}
	return u, err
}

// since returns the processor time that was used after an earlier reading.
func (u usage) since(before usage) usage {
	return usage{u.centre - before.centre, u.database - before.database}
}
