package results

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteJUnit writes a report as JUnit XML: one suite per scenario and testbed, one case per run. A run that is not as
// expected or undecided is a failure with the witness in its text; a run that failed is an error; one that is not
// supported is skipped. Runs that were not made are one skipped case with their number, in a suite of its own. Characters
// that XML cannot carry become U+FFFD.
func WriteJUnit(w io.Writer, r Report) error {
	root := junitSuites{Name: "lockfault", Time: junitSeconds(r.Elapsed)}
	for _, runs := range byScenario(r.Runs) {
		suite := junitSuiteOf(runs, r.When)
		root.Suites = append(root.Suites, suite)
		root.add(suite.junitCounts)
	}
	if r.NotRun > 0 {
		suite := junitNotRun(r)
		root.Suites = append(root.Suites, suite)
		root.add(suite.junitCounts)
	}
	text, err := xml.MarshalIndent(root, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Time   string       `xml:"time,attr"`
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

func (c *junitCounts) add(o junitCounts) {
	c.Tests += o.Tests
	c.Failures += o.Failures
	c.Errors += o.Errors
	c.Skipped += o.Skipped
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

func junitSuiteOf(runs []Run, when time.Time) junitSuite {
	suite := junitSuite{Name: printable(runs[0].Testbed + "/" + runs[0].Scenario), Timestamp: junitTimestamp(when)}
	var elapsed time.Duration
	for _, run := range runs {
		c := junitCaseOf(run)
		c.Class = suite.Name
		suite.Cases = append(suite.Cases, c)
		suite.add(c.counts())
		elapsed += run.Elapsed
	}
	suite.Time = junitSeconds(elapsed)
	return suite
}

// junitNotRun says that runs were left out: a file without them would look like that of a shorter comparison in which all
// is well. The report knows how many they were, and not which.
func junitNotRun(r Report) junitSuite {
	const name = "not run"
	message := "1 run was not made"
	if r.NotRun > 1 {
		message = fmt.Sprintf("%d runs were not made", r.NotRun)
	}
	if r.budgetSpent() {
		message += fmt.Sprintf(": the budget of %v was spent", r.Budget)
	} else {
		message += ": the command ended before"
	}
	left := junitCase{Name: name, Class: name, Time: junitSeconds(0), Skipped: &junitProblem{Message: message}}
	return junitSuite{Name: name, Timestamp: junitTimestamp(r.When), junitCounts: left.counts(), Time: left.Time, Cases: []junitCase{left}}
}

// junitTimestamp is empty for a report that does not tell.
func junitTimestamp(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return when.UTC().Format("2006-01-02T15:04:05")
}

func junitCaseOf(r Run) junitCase {
	c := junitCase{Name: printable(r.Key()), Time: junitSeconds(r.Elapsed)}
	switch outcome := r.Outcome(); outcome {
	case AsExpected:
	case Unsupported:
		c.Skipped = &junitProblem{Message: printable(r.Unsupported)}
	case Failed:
		c.Error = junitProblemOf(r)
	default:
		c.Failure = junitProblemOf(r)
	}
	return c
}

// junitProblemOf tells the surprises: in short as the message, with evidence as the text.
func junitProblemOf(r Run) *junitProblem {
	var what []string
	var text strings.Builder
	for _, s := range explain(r) {
		what = append(what, printable(s.what))
		fmt.Fprintf(&text, "\n%s\n", printable(s.what))
		if s.evidence != "" {
			fmt.Fprintf(&text, "  %s\n", printable(s.evidence))
		}
	}
	if r.Dir != "" {
		fmt.Fprintf(&text, "history: %s\n", printable(r.history()))
	}
	return &junitProblem{Message: strings.Join(what, "; "), Type: r.Outcome().String(), Text: text.String()}
}

func (c junitCase) counts() junitCounts {
	n := junitCounts{Tests: 1}
	switch {
	case c.Failure != nil:
		n.Failures = 1
	case c.Error != nil:
		n.Errors = 1
	case c.Skipped != nil:
		n.Skipped = 1
	}
	return n
}

func junitSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
