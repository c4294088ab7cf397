//go:build !linux

package program

import "errors"

// Group is a process group; there is none here.
type Group struct{}

var errNoGroup = errors.New("process groups are for Linux only")

// NewGroup is an error here.
func NewGroup() (*Group, error) { return nil, errNoGroup }

// StartIn is an error here.
func StartIn(*Group, string) (*Program, error) { return nil, errNoGroup }

// Stop is an error here.
func (*Group) Stop() error { return errNoGroup }

// Continue is an error here.
func (*Group) Continue() error { return errNoGroup }

// End does nothing here.
func (*Group) End() {}
