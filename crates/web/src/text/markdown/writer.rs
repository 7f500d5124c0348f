//! Writes our HTML from the events of the Markdown parser.

use countersign_highlight::KnownLanguage;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Tag, TagEnd};

use super::headings::Headings;
use crate::language::{say, t};
use crate::text::code::ColouredCode;
use crate::text::diff::{diff, is_diff_name};
use crate::text::image;
use crate::text::link::LinkTarget;
use crate::text::safe_html::HtmlBuilder;

/// More nesting than real texts have, yet cheap for the sanitizer, whose work grows with depth times events.
const MAX_DEPTH: usize = 50;
pub const MAX_EVENTS: usize = 20_000;
const MAX_HTML_BYTES: usize = 512 * 1024;

#[derive(Default)]
pub struct HtmlWriter {
    html: HtmlBuilder,
    depth: usize,
    link: Option<OpenLink>,
    image: Option<OpenImage>,
    code: Option<OpenCode>,
    table: TableState,
    headings: Headings,
    has_image_buttons: bool,
}

struct OpenLink {
    address: LinkTarget,
    /// The link text as the reader sees it.
    text: String,
}

struct OpenImage {
    address: LinkTarget,
    alt: String,
    /// Depth of images nested in the alt text, which count as part of that text.
    inner: usize,
}

struct OpenCode {
    text: String,
    /// The first word after the fence.
    language: String,
}

#[derive(Default)]
struct TableState {
    alignments: Vec<Alignment>,
    is_head: bool,
    column: usize,
}

impl HtmlWriter {
    pub fn with_image_buttons() -> Self {
        Self {
            has_image_buttons: true,
            ..Self::default()
        }
    }

    /// Returns `None` if the text exceeds a limit.
    pub fn write(mut self, events: Vec<Event<'_>>) -> Option<HtmlBuilder> {
        if events.len() > MAX_EVENTS {
            return None;
        }
        self.headings = Headings::of(&events);
        for event in events {
            self.event(event);
            if self.depth > MAX_DEPTH || self.html.as_str().len() > MAX_HTML_BYTES {
                return None;
            }
        }
        Some(self.html)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                self.start(tag);
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag);
            }
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => {
                self.markup("<code>");
                self.text(&text);
                self.markup("</code>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => {
                self.markup("<br>");
                self.text("\n");
            }
            Event::Rule => self.markup("<hr>\n"),
            Event::TaskListMarker(true) => {
                self.markup(r#"<input type="checkbox" disabled checked aria-label=""#);
                self.html.line(t("done"));
                self.markup("\"> ");
            }
            Event::TaskListMarker(false) => {
                self.markup(r#"<input type="checkbox" disabled aria-label=""#);
                self.html.line(t("not done"));
                self.markup("\"> ");
            }
        }
    }

    /// Appends text to the open code block, image or link, or else to the page.
    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.text.push_str(text);
        } else if let Some(image) = &mut self.image {
            image.alt.push_str(text);
        } else {
            if let Some(link) = &mut self.link {
                link.text.push_str(text);
            }
            self.html.lines(text);
        }
    }

    /// Markup inside the alt text of an image is dropped.
    fn markup(&mut self, markup: &'static str) {
        if self.image.is_none() {
            self.html.markup(markup);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.markup("<p>"),
            Tag::Heading { level, .. } => {
                let markup = self.headings.open(level);
                self.markup(markup);
            }
            Tag::BlockQuote(_) => self.markup("<blockquote>\n"),
            Tag::CodeBlock(kind) => {
                self.code = Some(OpenCode {
                    text: String::new(),
                    language: language(&kind),
                })
            }
            Tag::HtmlBlock => self.markup(r#"<pre class="raw">"#),
            Tag::List(first) => self.start_list(first),
            Tag::Item => self.markup("<li>"),
            Tag::Table(alignments) => {
                self.table = TableState {
                    alignments,
                    ..TableState::default()
                };
                self.markup(r#"<div class="table"><table>"#);
            }
            Tag::TableHead => self.start_row(true, "<thead><tr>"),
            Tag::TableRow => self.start_row(false, "<tr>"),
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis => self.markup("<em>"),
            Tag::Strong => self.markup("<strong>"),
            Tag::Strikethrough => self.markup("<del>"),
            Tag::Link {
                link_type, dest_url, ..
            } => self.start_link(link_type, &dest_url),
            Tag::Image { dest_url, .. } => self.start_image(&dest_url),
            Tag::Superscript | Tag::Subscript | Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_) => {}
            Tag::DefinitionList | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.markup("</p>\n"),
            TagEnd::Heading(_) => {
                let markup = self.headings.close();
                self.markup(markup);
            }
            TagEnd::BlockQuote(_) => self.markup("</blockquote>\n"),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => self.markup("</pre>\n"),
            TagEnd::List(false) => self.markup("</ul>\n"),
            TagEnd::List(true) => self.markup("</ol>\n"),
            TagEnd::Item => self.markup("</li>\n"),
            TagEnd::Table => self.markup("</tbody></table></div>\n"),
            TagEnd::TableHead => self.markup("</tr></thead><tbody>\n"),
            TagEnd::TableRow => self.markup("</tr>\n"),
            TagEnd::TableCell => self.markup(if self.table.is_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.markup("</em>"),
            TagEnd::Strong => self.markup("</strong>"),
            TagEnd::Strikethrough => self.markup("</del>"),
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.end_image(),
            TagEnd::Superscript | TagEnd::Subscript | TagEnd::FootnoteDefinition | TagEnd::MetadataBlock(_) => {}
            TagEnd::DefinitionList | TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition => {}
        }
    }

    fn start_list(&mut self, first: Option<u64>) {
        match first {
            None => self.markup("<ul>\n"),
            Some(first) => {
                self.markup(r#"<ol start=""#);
                self.html.line(&first.to_string());
                self.markup("\">\n");
            }
        }
    }

    fn start_row(&mut self, is_head: bool, markup: &'static str) {
        self.table.is_head = is_head;
        self.table.column = 0;
        self.markup(markup);
    }

    fn start_cell(&mut self) {
        let alignment = self
            .table
            .alignments
            .get(self.table.column)
            .copied()
            .unwrap_or(Alignment::None);
        self.table.column += 1;
        self.markup(match (self.table.is_head, alignment) {
            (true, Alignment::None | Alignment::Left) => "<th>",
            (true, Alignment::Center) => r#"<th class="center">"#,
            (true, Alignment::Right) => r#"<th class="right">"#,
            (false, Alignment::None | Alignment::Left) => "<td>",
            (false, Alignment::Center) => r#"<td class="center">"#,
            (false, Alignment::Right) => r#"<td class="right">"#,
        });
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if is_diff_name(&code.language) {
            self.html.append(&diff(&code.text));
        } else {
            self.markup("<pre><code>");
            ColouredCode::new(&code.text, KnownLanguage::by_name(&code.language)).write(&mut self.html);
            self.markup("</code></pre>\n");
        }
    }

    fn start_link(&mut self, link_type: LinkType, address: &str) {
        if self.image.is_some() {
            return;
        }
        let address = match link_type {
            LinkType::Email => LinkTarget::new(&format!("mailto:{address}")),
            _ => LinkTarget::new(address),
        };
        address.open(&mut self.html);
        self.link = Some(OpenLink {
            address,
            text: String::new(),
        });
    }

    fn end_link(&mut self) {
        if self.image.is_none()
            && let Some(link) = self.link.take()
        {
            link.address.close(&mut self.html, &link.text);
        }
    }

    fn start_image(&mut self, address: &str) {
        match &mut self.image {
            Some(image) => image.inner += 1,
            None => {
                self.image = Some(OpenImage {
                    address: LinkTarget::new(address),
                    alt: String::new(),
                    inner: 0,
                })
            }
        }
    }

    /// An image becomes a link to it, with a button where the page has them. Inside another link it becomes text, because
    /// links do not nest.
    fn end_image(&mut self) {
        match self.image.take() {
            None => {}
            Some(image) if image.inner > 0 => {
                self.image = Some(OpenImage {
                    inner: image.inner - 1,
                    ..image
                })
            }
            Some(image) if self.link.is_some() => {
                self.text(&say!(
                    "image: {alt} ({address})",
                    alt = image.alt,
                    address = image.address.shown()
                ));
            }
            Some(image) if self.has_image_buttons && image.address.is_image() => {
                image::write_button(&mut self.html, &image.address, &image.alt);
            }
            Some(image) => {
                let label = say!("image: {alt}", alt = image.alt);
                image.address.open(&mut self.html);
                self.html.line(&label);
                image.address.close(&mut self.html, &label);
            }
        }
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Indented => String::new(),
        CodeBlockKind::Fenced(info) => {
            let first = info.split([' ', '\t', ',', '{']).next();
            first.unwrap_or_default().to_owned()
        }
    }
}
