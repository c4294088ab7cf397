package lanes

// StyleSheet colours a picture for light and dark surroundings. Text keeps a contrast of 4.5 to 1 or more. No meaning
// hangs on a colour alone: clients are named in their bars, outcomes differ in shape, marks are spelled out.
const StyleSheet = `
.lanes{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;--paper:#ffffff;--ink:#1b1f24;--dim:#57606a;
--rule:#d0d7de;--grid:#eceff2;--bad:#b3261e;--band:#8c6d1f;--c0:#1f5fbf;--c1:#a3480b;--c2:#0b6e5a;--c3:#8a2f86;--c4:#4d6416;--c5:#57606a;--on:#ffffff}
@media (prefers-color-scheme:dark){.lanes{--paper:#12161c;--ink:#e6edf3;--dim:#9aa7b4;--rule:#333c47;--grid:#1f262e;--bad:#ff8f85;--band:#d9b45b;
--c0:#7fb2ff;--c1:#ffab70;--c2:#5fd4ba;--c3:#e59be0;--c4:#b5cf6b;--c5:#9aa7b4;--on:#0b0e12}}
.lanes text{fill:var(--ink)}.lanes .paper{fill:var(--paper)}.lanes .title{font-weight:600;font-size:14px}.lanes .name{font-weight:600}
.lanes .small{font-size:10.5px}.lanes text.dim,.lanes text.node{fill:var(--dim)}.lanes text.bad{fill:var(--bad)}.lanes text.on{fill:var(--on)}
.lanes .halo{stroke:var(--paper);stroke-width:4;paint-order:stroke}.lanes .end{text-anchor:end}.lanes .middle{text-anchor:middle}.lanes .rule{stroke:var(--rule)}.lanes .grid{stroke:var(--grid)}
.lanes .c0{fill:var(--c0)}.lanes .c1{fill:var(--c1)}.lanes .c2{fill:var(--c2)}.lanes .c3{fill:var(--c3)}.lanes .c4{fill:var(--c4)}.lanes .c5{fill:var(--c5)}
.lanes .doubtful{opacity:.5}.lanes rect.witness.believed{stroke:var(--bad);stroke-width:2}.lanes .overlap{fill:var(--bad);opacity:.13}
.lanes .brace{stroke:var(--bad);fill:none;opacity:.6}.lanes .gap{fill:url(#gap)}.lanes .gap-back{fill:var(--paper)}.lanes .gap-line{fill:var(--bad)}
.lanes .band{fill:url(#band)}.lanes .band-back{fill:var(--band);opacity:.13}.lanes .band-line{fill:var(--band);opacity:.2}
.lanes .tick{stroke:var(--ink);fill:var(--ink);stroke-width:1.6}.lanes .tick path,.lanes .tick line{fill:none}
.lanes .tick.fail,.lanes .tick.stale,.lanes .tick.rejected{stroke:var(--bad);fill:var(--bad)}.lanes .tick.witness{stroke-width:2.4}
.lanes .link{stroke:var(--dim);stroke-dasharray:2 3}.lanes .link.witness{stroke:var(--bad);stroke-dasharray:none}
@media print{.lanes{--paper:#ffffff;--ink:#000000;--dim:#404040;--rule:#999999;--grid:#e5e5e5;--bad:#a00000;--band:#705000;
--c0:#1f5fbf;--c1:#a3480b;--c2:#0b6e5a;--c3:#8a2f86;--c4:#4d6416;--c5:#57606a;--on:#ffffff}}
`
