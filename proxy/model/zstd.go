package model

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
)

// newZstd returns a reader of the decoded body in zstd (RFC 8878). The decoder is that of the
// standard library, with a window of at most 8 MiB, which HTTP allows (RFC 9659). The library
// offers this decoder only for compressed sections of ELF files. So newZstd presents the body as
// the only section of an ELF file. The decoder of klauspost/compress is not used, because it makes
// tables at each start of every command.
func newZstd(body io.Reader) (io.Reader, error) {
	const endless = 1 << 62 // larger than any body, so the section ends only with the body
	head := &bytes.Buffer{}
	file := elf.Header64{
		Ident:   [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Version: uint32(elf.EV_CURRENT), Shentsize: 64, Shnum: 1,
	}
	file.Shoff = uint64(binary.Size(file))
	section := elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED), Size: endless}
	section.Off = file.Shoff + uint64(binary.Size(section))
	for _, part := range []any{file, section, elf.Chdr64{Type: uint32(elf.COMPRESS_ZSTD)}} {
		_ = binary.Write(head, binary.LittleEndian, part) // writing to a buffer cannot fail
	}
	f, err := elf.NewFile(&forwardReader{head: head.Bytes(), body: body})
	if err != nil {
		return nil, err
	}
	return f.Sections[0].Open(), nil
}

// forwardReader is an io.ReaderAt for a head that is followed by a body. The head can be read
// several times. The body can be read only once, from beginning to end.
type forwardReader struct {
	head []byte
	body io.Reader
	read int64 // number of bytes of the body read so far
}

// ReadAt returns the bytes that are available, even if these do not fill p, so that a stream is not
// delayed.
func (r *forwardReader) ReadAt(p []byte, off int64) (int, error) {
	at := off - int64(len(r.head))
	if at < 0 {
		n := copy(p, r.head[off:])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	if at < r.read {
		return 0, errors.New("a body is read once")
	}
	skipped, err := io.CopyN(io.Discard, r.body, at-r.read) // the skipped bytes belong to a zstd frame without content
	r.read += skipped
	if err != nil {
		return 0, err
	}
	n, err := r.body.Read(p)
	r.read += int64(n)
	return n, err
}
