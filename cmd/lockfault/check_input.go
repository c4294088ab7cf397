package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockfault/lockfault/checker/recording"
)

// inputs are the files of a call of check, which looks at them before it reads them. What is no regular file, such as a pipe,
// can be read only once: it stays open in between.
type inputs map[string]*input

// input is an open file. It buffers what was looked at.
type input struct {
	*bufio.Reader
	file *os.File
}

// looked is how much of a file is looked at.
const looked = 64 << 10

// from is where to read: the file itself if nothing of it was looked at, for its size tells how much room a history takes.
func (in *input) from() io.Reader {
	if in.Buffered() == 0 {
		return in.file
	}
	return in.Reader
}

func (in *input) Close() error { return in.file.Close() }

// zipped tells whether it is gzip.
func (in *input) zipped() bool {
	magic, _ := in.Peek(2)
	return string(magic) == "\x1f\x8b"
}

// start is the beginning of what it says, decompressed if it is gzip. A damaged file has less; whoever reads it says why.
func (in *input) start() []byte {
	start, _ := in.Peek(looked)
	if !in.zipped() {
		return start
	}
	zip, err := gzip.NewReader(bytes.NewReader(start))
	if err != nil {
		return nil
	}
	unzipped := make([]byte, looked)
	n, _ := io.ReadFull(zip, unzipped)
	return unzipped[:n]
}

// open opens a file, - for standard input, or returns one that is open.
func (i *inputs) open(name string) (*input, error) {
	if in := (*i)[name]; in != nil {
		delete(*i, name)
		return in, nil
	}
	file := os.Stdin
	if name != "-" {
		var err error
		if file, err = os.Open(name); err != nil {
			return nil, err
		}
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s is a directory; give the history in it: history.jsonl or history.edn", shown(name)), file.Close())
	}
	return &input{bufio.NewReaderSize(file, looked), file}, nil
}

// areRecording tells whether a file begins as a recording from production does.
func (i *inputs) areRecording(name string) (bool, error) {
	in, err := i.open(name)
	if err != nil {
		return false, err
	}
	is := recording.Is(in.start())
	if info, err := in.file.Stat(); err == nil && info.Mode().IsRegular() && name != "-" {
		return is, in.Close()
	}
	if *i == nil {
		*i = inputs{}
	}
	(*i)[name] = in
	return is, nil
}
