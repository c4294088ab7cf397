package edn_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockfault/lockfault/checker/history/edn"
)

// texts are values, and how they are written again.
var texts = []struct{ in, out string }{
	{"nil", "nil"},
	{"true false", "true false"},
	{"0 -7 +7 7N 007", "0 -7 7 7 7"},
	{"9223372036854775807 9223372036854775808", "9223372036854775807 9223372036854775808"},
	{"1.5 -1e9 2.5M 3/4 0x1F ##Inf ##-Inf", "1.5 -1e9 2.5M 3/4 0x1F ##Inf ##-Inf"},
	{`"a\tb\\\"\n" "" "é" "\u00e9" "\ud83d\ude00" "\101"`, `"a\tb\\\"\n" "" "é" "é" "😀" "A"`},
	{"\"two\nlines\"", `"two\nlines"`},
	{`"\ud83dx" "\ud83d\n"`, `"` + "\uFFFD" + `x" "` + "\uFFFD" + `\n"`},
	{`\a \newline \u0041 \é \( [\space\tab]`, `\a \newline \A \é \( [\space \tab]`},
	{":a :a/b ::c :a.b-c*!_?$%&=<>'", ":a :a/b :c :a.b-c*!_?$%&=<>'"},
	{"a a/b - + -a .b / foo#bar", "a a/b - + -a .b / foo#bar"},
	{"(1,2,,3) [] {} #{}", "(1 2 3) [] {} #{}"},
	{"{:a{:b[1(2)]}}", "{:a {:b [1 (2)]}}"},
	{"; comment\n1 ;another\n;last", "1"},
	{"#_1 2 [#_ 3] #_ #_ 4 5 6 #_", "2 [] 6"},
	{"#inst \"2020\" #a.b.Op{:x 1} #a #b 1", "#inst \"2020\" #a.b.Op {:x 1} #a #b 1"},
	{"#:ns{:a 1 :_/b 2 :c/d 3 \"e\" 4}", "{:ns/a 1 :b 2 :c/d 3 \"e\" 4}"},
	{"#object[clojure.core$inc 0x3f \"x\"]", "#object [clojure.core$inc 0x3f \"x\"]"},
}

func read(r io.Reader) (all []string, err error) {
	reader := edn.NewReader(r)
	for {
		v, err := reader.Next()
		if err != nil {
			return all, err
		}
		all = append(all, v.String())
	}
}

func TestValuesAreReadAndWritten(t *testing.T) {
	for _, law := range texts {
		for name, source := range map[string]io.Reader{
			"at once": strings.NewReader(law.in), "byte by byte": iotest.OneByteReader(strings.NewReader(law.in)),
			"data with the end": iotest.DataErrReader(strings.NewReader(law.in)),
		} {
			all, err := read(source)
			if strings.HasSuffix(law.in, "#_") {
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, %s: %v", law.in, name, err)
				}
			} else if err != io.EOF {
				t.Errorf("%s, %s: %v", law.in, name, err)
			}
			if got := strings.Join(all, " "); got != law.out {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", law.in, name, got, law.out)
			}
		}
	}
}

func TestMistakesAreErrorsWithTheirPlace(t *testing.T) {
	for _, law := range []struct{ in, want string }{
		{"]", "1:1: ']' closes nothing"},
		{"[1\n 2)", "2:3: ')' closes the '[' of line 1"},
		{"{1}", "1:4: the map of line 1 has a key without a value"},
		{"[1", "1:3: unexpected EOF"},
		{"\n\"a\nb", "3:2: unexpected EOF"},
		{`"\q"`, `1:3: \q is no escape`},
		{`"\u12g4"`, `1:8: \u12g4 is no escape`},
		{`\foo`, `1:5: \foo is no character`},
		{"#", "1:2: unexpected EOF"},
		{`#"a"`, `1:2: #" is not EDN`},
		{"#<A>", "1:2: #< starts an object that Clojure could not write down"},
		{"#:a 1", "1:6: #:a needs a map"},
		{":", "1:2: a keyword without a name; is this JSON among EDN?"},
		{"1$2", `1:4: "1$2" is no number`},
		{"^{:a 1} b", `1:1: '^' is not EDN`},
		{"@a", `1:1: '@' is not EDN`},
		{"\x00", `1:2: "\x00" is not EDN`},
		{"a\xffb", `1:4: "a\xffb" is not EDN`},
	} {
		_, err := read(strings.NewReader(law.in))
		if err == nil || err.Error() != law.want {
			t.Errorf("%q:\ngot  %v\nwant %s", law.in, err, law.want)
		}
	}
}

func TestItemsOfACollectionAreReadOneByOne(t *testing.T) {
	for in, want := range map[string]string{
		"[1 2]": "1 2", " ( 1\n(2))": "1 (2)", "1 2": "1 2", "": "", "[]": "", "[1] ; end": "1", "#_ x": "",
		"#history [1 2]": "1 2", "; a comment\n#history\n[1 2]": "1 2", "#_ [0] [1 2]": "1 2", "#_ [0] 1 [2]": "1 [2]",
		"#one [#two [1]]": "#two [1]", "#one #two [1]": "#one #two [1]", "1 #history [2]": "1 #history [2]",
	} {
		r := edn.NewReader(strings.NewReader(in))
		r.Enter()
		var all []string
		v, err := r.Next()
		for ; err == nil; v, err = r.Next() {
			all = append(all, v.String())
		}
		if got := strings.Join(all, " "); err != io.EOF || got != want {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}
}

func TestValuesKnowTheirPlace(t *testing.T) {
	r := edn.NewReader(strings.NewReader("\n {:a\n  [1]}"))
	v, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	one := v.Items[1].Items[0]
	if got := []int32{v.Line, v.Column, one.Line, one.Column}; !reflect.DeepEqual(got, []int32{2, 2, 3, 4}) {
		t.Errorf("got %v", got)
	}
}

// FuzzRead holds: whatever is read can be written, and is then read as the same; pieces do not matter; nothing is without
// end.
func FuzzRead(f *testing.F) {
	for _, law := range texts {
		f.Add(law.in)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := read(strings.NewReader(text))
		var place *edn.Error
		if err != io.EOF && !errors.As(err, &place) {
			t.Fatalf("an error without its place: %v", err)
		}
		pieces, pieceErr := read(iotest.OneByteReader(strings.NewReader(text)))
		if !reflect.DeepEqual(pieces, all) || pieceErr.Error() != err.Error() {
			t.Errorf("byte by byte:\n%q, %v\nat once:\n%q, %v", pieces, pieceErr, all, err)
		}
		written := strings.Join(all, "\n")
		again, err := read(strings.NewReader(written))
		if err != io.EOF || !reflect.DeepEqual(again, all) {
			t.Errorf("%q is read again as %q, %v", all, again, err)
		}
	})
}
