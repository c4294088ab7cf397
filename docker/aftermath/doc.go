// Package aftermath tests what a run on containers leaves behind, however it ends, with the command as users have it. It holds
// nothing but tests.
package aftermath
