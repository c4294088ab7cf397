package checker

import "testing"

func TestStatusSurvivesItsText(t *testing.T) {
	for _, s := range []Status{Undecided, Held, Violated} {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		got := Violated + 1
		if err := got.UnmarshalText(text); err != nil || got != s {
			t.Errorf("%v reads back as %v, %v", s, got, err)
		}
	}
	if err := new(Status).UnmarshalText([]byte("probably")); err == nil {
		t.Error("a status was made up")
	}
	if text := (Violated + 1).String(); text != "Status(3)" {
		t.Errorf("beyond the last status comes %q", text)
	}
}
