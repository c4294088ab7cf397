package checker

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/history"
)

const picturedPause = `
	0..0.001     A acquire ok lease=a fence=33 until=10
	0.100..15    fault-1 pause ok subject=A
	1..2         <b>C acquire fail lease=c
	9..10.050    B acquire ok lease=b fence=34 until=20
	12..12.001   B release ok lease=b
	15.5..15.501 A release fail lease=a
	16..17       <b>C acquire ok lease=d
	18..19       <b>C release ok lease=d`

func TestPictureOfAViolation(t *testing.T) {
	page := pictureOf(t, script(t, picturedPause))
	for _, want := range []string{
		"<title>lockfault: mutual exclusion violated</title>", "A acquire, fence 33", "B acquire, fence 34", "A release",
		"C acquire, refused", "fault-1 (pause of A)", "0 is A, 1 is ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	if n := complete(t, page); n != 0 {
		t.Errorf("%d orders of a violated history are complete", n)
	}
}

func TestPictureOfAHistoryThatHeld(t *testing.T) {
	page := pictureOf(t, script(t, strings.Replace(picturedPause, "15.5..15.501 A release fail", "9..9.1 A release ok", 1)))
	if !strings.Contains(page, "<title>lockfault: mutual exclusion held</title>") {
		t.Error("the title does not say that it held")
	}
	if n := complete(t, page); n != 1 {
		t.Errorf("%d orders of a history that held are complete", n)
	}
}

// TestPictureTakesNamesForText as porcupine's page shows operations as text and states as HTML, and both stand in a
// script.
func TestPictureTakesNamesForText(t *testing.T) {
	page := pictureOf(t, script(t, strings.NewReplacer("<b>C", "</script><b>C", "15.5..15.501 A release fail", "9..9.1 A release ok").Replace(picturedPause)))
	data := page[strings.LastIndex(page, "const data ="):]
	for _, never := range []string{"<b>", "</script><", `held by \u003c`} {
		if strings.Contains(data, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for _, want := range []string{`held by \u0026lt;/script\u0026gt;`, `"\u003c/script\u003e\u003cb\u003eC acquire"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestPictureOfALargeHistoryIsCut(t *testing.T) {
	for _, violated := range []bool{false, true} {
		events := sections{clients: 20, ops: 100_000, violated: violated, seed: 3}.generate()
		page := pictureOf(t, events)
		want := "<title>lockfault: mutual exclusion held (cut: "
		if violated {
			want = "<title>lockfault: mutual exclusion violated (cut: "
		}
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
		if len(page) > 1<<20 {
			t.Errorf("a page of %d bytes", len(page))
		}
		if n := complete(t, page); (n == 0) != violated {
			t.Errorf("violated is %v, and %d orders are complete", violated, n)
		}
	}
}

// TestPictureAndFiguresAgreeWithExclusion on random histories.
func TestPictureAndFiguresAgreeWithExclusion(t *testing.T) {
	seen := map[bool]int{}
	checkMany(t, 100, func(t *rapid.T) {
		c, err := NewCase(drawLocking(t))
		if err != nil {
			t.Fatal(err)
		}
		overlap := false
		for _, holds := range holdsByLock(c) {
			_, second := firstOverlap(holds)
			overlap = overlap || second != nil
		}
		seen[overlap]++
		if p := newPicture(c); porcupine.CheckOperations(p.model(), p.operations()) == overlap {
			t.Errorf("overlap is %v, and the picture shows the contrary", overlap)
		}
		if m := Measure(c); m.Overlaps != nil && (m.Overlaps.Pairs > 0) != overlap || m.Overlaps == nil && overlap {
			t.Errorf("overlap is %v, and the figures are %v", overlap, m.Overlaps)
		}
		if err := WritePicture(io.Discard, c); err != nil {
			t.Error(err)
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%d histories broke exclusion and %d did not: nothing was compared", seen[true], seen[false])
	}
}

// TestPictureHasWhatBeganLongBefore the violation, though it is cut; and the picture names two locks.
func TestPictureHasWhatBeganLongBefore(t *testing.T) {
	var early strings.Builder
	early.WriteString("0..1 old acquire ok lease=old on=x\n")
	for i := range 600 {
		fmt.Fprintf(&early, "%d..%d A acquire ok lease=a%d on=y\n%d..%d A release ok lease=a%d on=y\n", 2+4*i, 3+4*i, i, 4+4*i, 5+4*i, i)
	}
	early.WriteString("3000..3001 B acquire ok lease=b on=x\n")
	page := pictureOf(t, script(t, early.String()))
	for _, want := range []string{"violated (cut: ", "old acquire x", "B acquire x", "A acquire y"} {
		if !strings.Contains(page, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

func TestPictureOfNothing(t *testing.T) {
	if page := pictureOf(t, script(t, "0..1 A acquire fail lease=a")); !strings.Contains(page, "A acquire, refused") {
		t.Error("the refusal is not drawn")
	}
}

func pictureOf(t *testing.T, events []history.Event) string {
	t.Helper()
	c, err := NewCase(events)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := WritePicture(&page, c); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

var (
	drawnOperation = regexp.MustCompile(`"OriginalStart"`)
	drawnStep      = regexp.MustCompile(`"StateDescription"`)
	drawnOrder     = regexp.MustCompile(`\[(\{"Index":[^\]]*)\]`)
)

// complete counts the orders on a page that have all its operations.
func complete(t *testing.T, page string) int {
	t.Helper()
	all := len(drawnOperation.FindAllString(page[strings.LastIndex(page, "const data ="):], -1))
	if all == 0 {
		t.Fatal("the page has no operations")
	}
	n := 0
	for _, order := range drawnOrder.FindAllString(page, -1) {
		if len(drawnStep.FindAllString(order, -1)) == all {
			n++
		}
	}
	return n
}
