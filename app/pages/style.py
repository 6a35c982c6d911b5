"""The look of what the screens draw themselves.

``light-dark()`` follows the colour scheme that Streamlit gives the page. Lexical is amber and
semantic is blue everywhere; each colour has a contrast of at least 4.5 to its background.
"""

_VOICES = (
    '<path d="M2 8 H9 C13 8 13 16 17 16 H22" stroke="#d97706"/>'
    '<path d="M2 16 H9 C13 16 13 8 17 8 H22" stroke="#3b82f6"/>'
)
_LINES = f'<g fill="none" stroke-width="3" stroke-linecap="round">{_VOICES}</g>'

MARK = f'<svg viewBox="0 0 24 24">{_LINES}</svg>'
"""Two voices that cross, for the browser's tab."""

WORDMARK = (
    '<svg viewBox="0 0 150 24" width="150" height="24"><style>text { fill: #1b2226 } '
    "@media (prefers-color-scheme: dark) { text { fill: #e7edf0 } }</style>"
    f'{_LINES}<text x="30" y="17.5" font-family="sans-serif" font-size="17" font-weight="600">'
    "Counterpoint</text></svg>"
)

STYLE = """<style>
.stApp {
  --cp-lex: light-dark(#b45309, #f5b44d);
  --cp-sem: light-dark(#1d5fbf, #7fb2ff);
  --cp-text: light-dark(#1b2226, #e7edf0);
  --cp-muted: light-dark(#55636b, #a3b1b8);
  --cp-line: light-dark(#dde3e6, #2c373d);
  --cp-mark: light-dark(#ffefb0, #5a4700);
  --cp-lit: light-dark(#e6f1f4, #213138);
  --cp-passage: light-dark(#eef6f8, #18262c);
  --cp-accent: light-dark(#0f5c6e, #6cc4d8);
}
.stMainBlockContainer { padding: 3.75rem 2rem 2rem; max-width: 78rem; }
.stVerticalBlock { gap: .6rem; }
.st-key-account { position: fixed; top: .6rem; right: 1.25rem; width: auto; z-index: 999991; }
.st-key-account, .st-key-account * { font-variant-numeric: tabular-nums; }
.stHtml mark { background: var(--cp-mark); color: inherit; padding: 0 .1em; border-radius: 2px; }
.stHtml code { font-size: .875em; overflow-wrap: anywhere; }
.stHtml a { color: light-dark(#0f5c6e, #8fd3e3); }
.cp-L { color: var(--cp-lex); }
.cp-S { color: var(--cp-sem); }
.cp-C { color: light-dark(#7a3fb0, #c9a2f0); }
.cp-T { color: light-dark(#2f7034, #8fd096); }
.cp-P { color: light-dark(#9c2f5b, #f09dbd); }
.cp-F { color: var(--cp-text); }
.stHtml p.cp-status { margin: 0; color: var(--cp-muted); font-size: .875rem; }
.cp-status, .cp-row, .cp-list, .cp-why, .cp-foot, .cp-topic { font-variant-numeric: tabular-nums; }
.stHtml p.cp-note { margin: 0 0 .5rem; padding: .5rem .75rem; border-left: 3px solid var(--cp-lex);
  background: light-dark(#fdf6ec, #2a2316); font-size: .9rem; }
.cp-state { max-width: 44rem; padding: 1.5rem 0 .5rem; }
.stHtml .cp-state h2 { font-size: 1.25rem; margin: 0; padding: 0 0 .25rem; }
.stHtml .cp-state p { margin: 0; }
.cp-row { padding: .4rem 0 .45rem; border-top: 1px solid var(--cp-line); line-height: 1.35; }
.cp-head { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .6rem; }
.cp-rank { min-width: 1.5rem; text-align: right; color: var(--cp-muted); }
.cp-head .cp-rank { margin-left: -.25rem; }
.stHtml a.cp-title { font-weight: 600; text-decoration: none; overflow-wrap: anywhere;
  unicode-bidi: isolate; }
.stHtml a.cp-title:hover { text-decoration: underline; }
.cp-ocr { border: 1px solid var(--cp-line); border-radius: 3px; padding: 0 .3rem; margin: 0 .4rem;
  color: var(--cp-muted); font-size: .75rem; font-weight: 400; white-space: nowrap; }
.cp-head a.cp-title { flex: 0 1 auto; max-width: calc(100% - 2.1rem); }
.cp-meta { color: var(--cp-muted); font-size: .8125rem; white-space: nowrap; margin-left: auto; }
.cp-place, .cp-snippet, .cp-parts, .cp-row .cp-similar { margin: 0 0 0 1.85rem; }
.cp-similar { color: var(--cp-muted); font-size: .8125rem; overflow-wrap: anywhere; }
.cp-place { color: var(--cp-muted); font-size: .8125rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.stHtml p.cp-snippet { margin: .1rem 0 .2rem 1.85rem; font-size: .9rem; overflow: hidden;
  overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical;
  -webkit-line-clamp: 2; }
.stHtml ol.cp-passages { list-style: none; margin: .1rem 0 .2rem 1.85rem; padding: 0;
  font-size: .9rem; }
.stHtml .cp-passages li { margin: 0; padding: 0 0 0 .5rem; border-left: 2px solid var(--cp-line);
  font-size: inherit; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.stHtml .cp-passages li.cp-first { border-left-color: var(--cp-accent); white-space: normal;
  overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical;
  -webkit-line-clamp: 2; }
.stHtml .cp-passages a { font-size: .8125rem; text-decoration: none; margin-right: .35rem; }
.stHtml .cp-passages a:hover { text-decoration: underline; }
.cp-earned { border: 1px solid var(--cp-line); border-radius: 3px; padding: 0 .3rem;
  color: var(--cp-muted); font-size: .75rem; white-space: nowrap; }
.stHtml .cp-facets p { margin: 0 0 .25rem; font-size: .8125rem; }
.stHtml .cp-facets dl { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr);
  gap: .1rem .5rem; margin: 0; padding: 0; font-size: .875rem; }
.stHtml .cp-facets dt { margin: 0; padding: 0; font-weight: 400; opacity: .75; }
.stHtml .cp-facets dd { display: flex; flex-wrap: wrap; gap: 0 .8rem; margin: 0; padding: 0; }
.cp-facets dd > * { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.stHtml .cp-facets a { color: inherit; }
.cp-parts { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem .5rem;
  font-size: .8125rem; }
.cp-chip { display: inline-block; border: 1px solid currentColor; border-radius: 3px;
  padding: 0 .35rem; font-weight: 600; font-size: .75rem; line-height: 1.2rem;
  white-space: nowrap; }
.cp-absent { color: var(--cp-muted); }
.cp-bar { display: inline-flex; width: 6rem; height: .45rem; gap: 1px; overflow: hidden;
  border-radius: 2px; background: var(--cp-line); }
.cp-bar i { background: currentColor; min-width: 1px; flex-basis: 0; }
.cp-sum { color: var(--cp-text); overflow-wrap: anywhere; }
.stHtml p.cp-foot { margin: .25rem 0 0; padding-top: .5rem; border-top: 1px solid var(--cp-line);
  color: var(--cp-muted); font-size: .8125rem; }
.cp-lists { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.25rem 1.5rem; }
.stHtml .cp-list h3 { font-size: 1rem; padding: 0; margin: 0; text-transform: capitalize; }
.cp-list-L { border-top: 3px solid var(--cp-lex); }
.cp-list-S { border-top: 3px solid var(--cp-sem); }
.cp-list-F { border-top: 3px solid var(--cp-text); }
.cp-list { padding-top: .5rem; }
.stHtml .cp-list > p { margin: 0 0 .4rem; color: var(--cp-muted); font-size: .8125rem; }
.stHtml .cp-list ol { list-style: none; margin: 0; padding: 0; font-size: .875rem; }
.stHtml .cp-list li { display: flex; align-items: baseline; gap: .5rem; margin: 0;
  padding: .3rem .25rem; border-top: 1px solid var(--cp-line); line-height: 1.3;
  font-size: inherit; }
.cp-list li > div { flex: 1; min-width: 0; }
.stHtml .cp-list li a.cp-title { font-weight: 400; }
.cp-list small { display: block; color: var(--cp-muted); overflow-wrap: anywhere; }
.cp-went { display: flex; align-items: center; gap: .25rem; flex: none; font-size: .75rem; }
.cp-lone { box-shadow: inset 2px 0 0 var(--cp-muted); }
.cp-scroll { overflow-x: auto; }
.cp-why { border-collapse: collapse; font-size: .875rem; min-width: min(100%, 44rem); }
.stHtml .cp-why th, .stHtml .cp-why td { text-align: left; vertical-align: top; border: 0;
  padding: .1rem .75rem .1rem 0; white-space: nowrap; line-height: 1.35; }
.cp-why caption { text-align: left; font-weight: 600; padding: .75rem 0 .25rem; }
.cp-order { margin: .25rem 0 0; padding-left: 1.5rem; font-size: .875rem; }
.stHtml .cp-why th { color: var(--cp-muted); font-weight: 400; }
.stHtml .cp-why .cp-whose td { border-top: 1px solid var(--cp-line); padding-top: .5rem;
  white-space: normal; }
.stHtml .cp-why .cp-total td { padding-bottom: .5rem; }
.cp-total td { font-weight: 600; }
.cp-figures { border-collapse: collapse; font-size: .875rem; margin-bottom: .5rem;
  min-width: min(100%, 44rem);
  font-variant-numeric: tabular-nums; }
.stHtml .cp-figures th, .stHtml .cp-figures td { text-align: right; border: 0; line-height: 1.35;
  padding: .2rem 0 .2rem .9rem; white-space: nowrap; }
.stHtml .cp-figures th { font-weight: 400; }
.stHtml .cp-figures thead th { color: var(--cp-muted); }
.stHtml .cp-figures th:first-child { text-align: left; padding-left: 0; position: sticky; left: 0;
  background: light-dark(#fff, #12171a); }
.stHtml .cp-figures tbody tr { border-top: 1px solid var(--cp-line); }
.stHtml .cp-figures .cp-fused th { font-weight: 600; }
.stHtml .cp-figures td.cp-best::before { content: "★ "; color: var(--cp-accent); }
.stHtml .cp-figures td.cp-words, .stHtml .cp-figures th.cp-words { text-align: left; 
  white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
.stHtml p.cp-status { overflow-wrap: anywhere; }
.st-key-heat { overflow-x: auto; }
.cp-text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; max-width: 52rem;
  font-size: .9375rem; }
.cp-passage { background: var(--cp-passage); box-shadow: -4px 0 0 var(--cp-accent);
  padding: .1rem 0; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.cp-gap { color: var(--cp-muted); font-size: .8125rem; }
.stHtml dl.cp-facts { display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; margin: 0; padding: 0;
  font-size: .875rem; }
.cp-facts div { display: flex; gap: .35rem; min-width: 0; }
.stHtml .cp-facts dt { color: var(--cp-muted); font-weight: 400; }
.stHtml .cp-facts dd { margin: 0; overflow-wrap: anywhere; }
.cp-name { font-weight: 600; font-size: .875rem; display: block; padding-bottom: .2rem; }
.stHtml p.cp-hint { margin: 0; color: var(--cp-muted); font-size: .8125rem; }
.cp-legend { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.stHtml p.cp-remark { margin: 0; color: var(--cp-muted); font-size: .75rem; }
.stHtml h1.cp-h1 { font-size: 1.35rem; line-height: 1.25; margin: 0; padding: 0 0 .25rem;
  overflow-wrap: anywhere; }
.stHtml h2.cp-h2 { font-size: 1.15rem; line-height: 1.3; margin: 0; padding: 0 0 .5rem;
  overflow-wrap: anywhere; }
.stHtml p.cp-steps { display: flex; align-items: baseline; gap: 1rem; margin: 0;
  font-size: .875rem; font-variant-numeric: tabular-nums; }
.stHtml a.cp-step { text-decoration: none; padding: .25rem 0; }
.cp-off { color: var(--cp-muted); opacity: .6; }
.cp-topic { display: grid; gap: 0 1rem; padding: .4rem 0; font-size: .9rem; line-height: 1.35;
  grid-template-columns: minmax(0, 2fr) minmax(0, 4fr) 9rem; align-items: center; }
.cp-topic > span { color: var(--cp-muted); }
.stHorizontalBlock:has(> .stColumn .cp-row), .stHorizontalBlock:has(> .stColumn .cp-topic) {
  border-top: 1px solid var(--cp-line); }
.stColumn .cp-row { border-top: 0; }
.cp-progress { display: inline-flex; align-items: center; gap: .5rem; white-space: nowrap;
  color: var(--cp-muted); font-size: .8125rem; }
.cp-progress progress { width: 5rem; height: .4rem; accent-color: var(--cp-accent); }
.stHtml .cp-need p { margin: 0; font-weight: 600; line-height: 1.35; }
.stHtml .cp-need p.cp-status { font-weight: 400; margin-top: .25rem; }
.stHtml ul.cp-examples { list-style: none; padding: 0; margin: .5rem 0; font-size: .9rem; }
.stHtml .cp-examples li { margin: 0; padding: .15rem 0; }
.cp-change { max-height: 30vh; overflow-y: auto; font-size: .875rem;
  border-left: 3px solid var(--cp-line); padding-left: .6rem; margin-bottom: .75rem; }
.cp-added { background: var(--cp-mark); }
.cp-gone { color: var(--cp-muted); text-decoration: line-through; }
.st-key-panel { position: sticky; top: 4.5rem; }
.st-key-panel [class*="st-key-grade"] button { justify-content: flex-start; text-align: left; }
.st-key-panel [class*="st-key-grade"] button > * { flex: 1; justify-content: flex-start; }
.st-key-panel [class*="st-key-grade"] kbd { display: none; }
.stHorizontalBlock:has(> .stColumn .cp-topic) { padding: .3rem 0; }
.stHorizontalBlock:has(> .stColumn .cp-topic) button { min-height: 2rem; padding: .1rem .75rem; }
.st-key-toolbar .stPopover button { padding-left: .4rem; padding-right: .4rem; }
@media (max-width: 700px) {
  .cp-topic { grid-template-columns: minmax(0, 1fr); }
  .stHorizontalBlock:has(> .stColumn .cp-row), .stHorizontalBlock:has(> .stColumn .cp-topic) {
    gap: .25rem; padding-bottom: .6rem; }
  .stHtml .cp-why th, .stHtml .cp-why td { padding-right: .5rem; font-size: .8125rem; }
  .stHtml .cp-figures tbody th:first-child { min-width: 7rem; max-width: 9rem;
    white-space: normal; overflow-wrap: anywhere; }
  .st-key-toolbar { gap: .35rem; }
  .st-key-toolbar .stPopover button, .st-key-toolbar .stButtonGroup button {
    font-size: .8125rem; padding-left: .5rem; padding-right: .5rem; }
  .st-key-toolbar .stPopover button { padding-left: 0; padding-right: .1rem; }
  .stHorizontalBlock:has(> .stColumn > * > * .st-key-panel),
  .stHorizontalBlock:has(.st-key-panel) { gap: .75rem; }
  .st-key-judged .cp-text { max-height: 46vh; overflow-y: auto; }
  .st-key-panel { position: static; }
  .stMainBlockContainer { padding: 3.75rem .9rem 2rem; }
  .cp-place, .stHtml p.cp-snippet, .stHtml ol.cp-passages, .cp-parts { margin-left: 0; }
  .cp-head .cp-rank { min-width: 0; margin: 0; }
  .cp-meta { margin-left: 0; }
  .cp-bar { width: 3.25rem; }
  .cp-lists { grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
}
</style>"""
