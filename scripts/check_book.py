"""The pages of the built book: every one is there, and every link leads to a file and, where it names one, a heading.

scripts/check-book builds the book and runs this with the folders of the sources and of the built book."""

import html.parser
import pathlib
import sys
import urllib.parse

SOURCE, BOOK = map(pathlib.Path, sys.argv[1:3])
# mdBook's own page of everything, in which the links of all pages lie flat, and the page for lost visitors.
NOT_OURS = {"print.html", "404.html", "toc.html"}


class Page(html.parser.HTMLParser):
    """What a page links to, and what can be linked to on it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.targets = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or tag == "a" and name == "name":
                self.targets.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


pages = {path.relative_to(BOOK): Page(path) for path in BOOK.rglob("*.html")}
wanted = {pathlib.Path(page.stem + ".html") for page in SOURCE.glob("*.md") if page.name != "SUMMARY.md"}
mistakes = [f"{page} was not built" for page in sorted(wanted - set(pages))]
links = 0
for path, page in sorted(pages.items()):
    if path.name in NOT_OURS:
        continue
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        links += 1
        found = (BOOK / path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else (BOOK / path).resolve()
        if not found.is_file() or BOOK.resolve() not in found.parents:
            mistakes.append(f"{path}: {link} leads to no file of the book")
        elif parts.fragment and found.suffix == ".html":
            if urllib.parse.unquote(parts.fragment) not in pages[found.relative_to(BOOK.resolve())].targets:
                mistakes.append(f"{path}: {link} leads to no heading")
for mistake in sorted(set(mistakes)):
    print(mistake, file=sys.stderr)
if mistakes or not wanted or links < 10 * len(wanted):
    sys.exit(f"check-book: {len(set(mistakes))} mistakes in {len(wanted)} pages with {links} links")
print(f"  {len(wanted)} pages, {links} links")
