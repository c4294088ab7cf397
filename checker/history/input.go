package history

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Format is a way of writing a history down.
type Format string

const (
	JSONLines Format = "jsonl" // as in the package comment
	EDN       Format = "edn"   // as Jepsen writes history.edn
)

// sniffed is how many bytes of the beginning are looked at to tell what they are.
const sniffed = 4096

// inputBuffer is how many bytes are read at a time.
const inputBuffer = 64 << 10

// foreign are beginnings of files that are no history, with what to do about them.
var foreign = []struct{ magic, what string }{
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd; give it decompressed, as in: zstdcat FILE | lockfault check -"},
	{"\xfd7zXZ\x00", "it is compressed with xz; give it decompressed, as in: xzcat FILE | lockfault check -"},
	{"BZh", "it is compressed with bzip2; give it decompressed, as in: bzcat FILE | lockfault check -"},
	{"PK\x03\x04", "it is a zip archive; give the history in it"},
	{"JEPSEN", "it is a Jepsen store; give the history.edn beside it"},
	{"\xff\xfe", utf16},
	{"\xfe\xff", utf16},
	{"{\x00", utf16},
	{"\x00{", utf16},
	{"[\x00", utf16},
	{"\x00[", utf16},
}

const utf16 = "it is UTF-16; convert it, as in: iconv -f UTF-16 -t UTF-8 FILE | lockfault check -"

// openInput decompresses what is gzip, whatever its name, drops a byte order mark, and tells the format.
func openInput(r io.Reader) (*bufio.Reader, Format, error) {
	in := bufio.NewReaderSize(r, inputBuffer)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, "", unzipError(err)
		}
		in = bufio.NewReaderSize(unzip{unzipped}, inputBuffer)
	}
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(len(mark))
	}
	start, err := in.Peek(sniffed)
	if err != nil && err != io.EOF && !errors.Is(err, errCutOff) && len(start) == 0 {
		return nil, "", err
	}
	for _, f := range foreign {
		if bytes.HasPrefix(start, []byte(f.magic)) {
			return nil, "", errors.New(f.what)
		}
	}
	if i := bytes.IndexByte(start, 0); i >= 0 && i < 512 {
		return nil, "", fmt.Errorf("it is binary (a zero byte at offset %d), not a history", i)
	}
	format, err := formatOf(start)
	return in, format, err
}

// formatOf looks at the first bytes that say something. An EDN history starts with a map with keywords for keys, a
// collection of such maps, a tag or a comment.
func formatOf(start []byte) (Format, error) {
	text := bytes.TrimLeft(start, " \t\r\n,")
	if len(text) == 0 {
		return JSONLines, nil
	}
	inside := bytes.TrimLeft(text[1:], " \t\r\n,")
	switch text[0] {
	case '[', '(':
		element, isMap := bytes.CutPrefix(inside, []byte("{"))
		if isMap && bytes.HasPrefix(bytes.TrimLeft(element, " \t\r\n"), []byte(`"`)) {
			return "", errors.New("it is a JSON array; give one event per line, as in: jq -c '.[]' FILE | lockfault check -")
		}
		return EDN, nil
	case '#', ';', ':':
		return EDN, nil
	case '{':
		if len(inside) > 0 && bytes.IndexByte([]byte(`:;#`), inside[0]) >= 0 {
			return EDN, nil
		}
	}
	return JSONLines, nil
}

// errCutOff ends an input that should have gone on: what came before is good.
var errCutOff = errors.New("the gzip data is cut off")

// unzip puts errors of gzip into words.
type unzip struct{ r *gzip.Reader }

func (u unzip) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	return n, unzipError(err)
}

func unzipError(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCutOff
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("the gzip data is damaged: %w", err)
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		return fmt.Errorf("the gzip data is damaged: %w", err)
	}
	return err
}
