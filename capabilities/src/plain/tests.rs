use proptest::prelude::*;

use super::{Shown, of_html, of_html_line, of_line, of_text};

fn html(text: &str) -> String {
    of_html(text, 1 << 20).text
}

/// What a JSON string of this text takes between its quotes.
fn inside(text: &str) -> usize {
    serde_json::to_string(text).unwrap().len() - 2
}

#[test]
fn scripts_and_styles_are_not_for_reading() {
    for (page, text) in [
        ("a<script>b</script>c", "ac"),
        ("a<SCRIPT>document.write('<p>b</p>')</SCRIPT>c", "ac"),
        ("a<style>p{}</style>c", "ac"),
        ("a<script>b<!--</script>c", "ac"),
        ("a<script><!--<script>b</script>b--></script>c", "ac"),
        ("a<template><p>b<template>b</template>b</p></template>c", "ac"),
        ("a<svg><title>b</title><text>b</text></svg>c", "ac"),
        ("a<svg/>c", "ac"),
        ("a<noscript>b</noscript>c", "ac"),
        ("a<iframe srcdoc='b'>b</iframe>c", "ac"),
        ("a<!-- b --><!b><?b?>c", "ac"),
        ("a<b title='b>b' onclick=\"b\">c</b>", "ac"),
        ("a<script>b", "a"),
        ("a<script src=x />b</script>c", "ac"),
    ] {
        assert_eq!(html(page), text, "{page}");
    }
}

#[test]
fn elements_make_lines_and_paragraphs() {
    for (page, text) in [
        ("<h1>One</h1>\n  <p>two\n  three</p><p>four<br>five", "One\n\ntwo three\n\nfour\nfive"),
        ("<ul><li>one<li>two</ul>three", "- one\n- two\n\nthree"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("<pre>a  b\n\tc</pre> d   e", "a  b\n\tc\n\nd e"),
        ("<title>T &lt;b&gt;</title><body>x", "T <b>\n\nx"),
        ("&amp;&#65;&#x42;&notin;&bogus;", "&AB\u{2209}&bogus;"),
        ("a&nbsp;b", "a b"),
        ("a<b>b</b>c", "abc"),
        ("<", "<"),
        ("", ""),
    ] {
        assert_eq!(html(page), text, "{page}");
    }
}

#[test]
fn what_hides_reorders_or_smuggles_is_left_out() {
    let smuggled: String = "ignore".chars().map(|c| char::from_u32(0xE0000 + c as u32).unwrap()).collect();
    for hidden in
        ["\0", "\u{1b}", "\u{7f}", "\u{9b}", "\u{200b}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{fe01}", &smuggled]
    {
        assert_eq!(of_text(&format!("a{hidden}b"), 99).text, "ab", "{hidden:?}");
        assert_eq!(html(&format!("a{hidden}b")).replace('\u{fffd}', ""), "ab", "{hidden:?}");
    }
    // What scripts and emoji need stays.
    let needed = "e\u{301} \u{1f469}\u{200d}\u{1f52c} \u{2764}\u{fe0f} \u{5d0}\u{200f}";
    assert_eq!(of_text(needed, 99).text, needed);
    assert_eq!(of_text("a\r\nb\rc\u{2028}d", 99).text, "a\nb\nc\nd");
    assert_eq!(of_line("  a \r\n\t b\u{2029}", 99).text, "a b");
    assert_eq!(of_html_line("<p>a<p>b", 99).text, "a b");
}

#[test]
fn the_budget_is_what_the_text_takes_in_json() {
    assert_eq!(of_text("abcd", 4), Shown { text: "abcd".into(), truncated: false });
    assert_eq!(of_text("abcd", 3), Shown { text: "abc".into(), truncated: true });
    assert_eq!(of_text("a\"", 2), Shown { text: "a".into(), truncated: true });
    assert_eq!(of_text("\u{1f600}", 3), Shown { text: String::new(), truncated: true });
    assert_eq!(of_html("<p>ab</p><p>cd", 5), Shown { text: "ab".into(), truncated: true });
    // Nothing after the cut is let in because it happens to fit.
    assert_eq!(of_html("\u{1f600}<p>a", 3), Shown { text: String::new(), truncated: true });
}

/// Neither the depth of a document nor the size of one part is paid with the stack or more than once.
#[test]
fn depth_and_size_cost_no_more_than_their_length() {
    let deep = 400_000;
    for page in [
        "<div>".repeat(deep) + "x",
        "<template>".repeat(deep) + "x",
        "<b><i>".repeat(deep) + "x" + &"</b>".repeat(deep),
        "<a ".to_owned() + &"b=c ".repeat(deep) + ">x",
        "<!--".to_owned() + &"-!".repeat(deep),
        "&".repeat(deep),
        "&#".to_owned() + &"9".repeat(deep),
        "<svg><![CDATA[".to_owned() + &"]".repeat(deep),
        "<".repeat(deep),
        "</".repeat(deep),
    ] {
        let shown = of_html(&page, 1000);
        assert!(inside(&shown.text) <= 1000);
    }
}

/// Bytes that lead a tokenizer everywhere.
fn pages() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "<",
            ">",
            "</",
            "/>",
            "<!--",
            "-->",
            "--!>",
            "<!",
            "<?",
            "&",
            ";",
            "&#x",
            "&#",
            "]]>",
            "<![CDATA[",
            "=",
            "\"",
            "'",
            "script",
            "style",
            "title",
            "textarea",
            "plaintext",
            "svg",
            "template",
            "pre",
            "li",
            "p",
            "x",
            " ",
            "\n",
            "\0",
            "\r",
            "D800",
            "110000",
            "amp",
            "notin",
            "\u{fffe}",
            "\u{202e}",
            "\u{e0041}",
            "é",
            "漢",
            "\u{1f600}",
            "!doctype",
            "PUBLIC",
            "SYSTEM",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_page_is_read_within_its_budget_and_shows_nothing_hidden(page in pages(), budget in 0_usize..200) {
        for shown in [of_html(&page, budget), of_text(&page, budget), of_line(&page, budget), of_html_line(&page, budget)] {
            prop_assert!(inside(&shown.text) <= budget, "{:?}", shown);
            let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
            prop_assert!(!shown.text.contains(hidden), "{:?}", shown);
        }
        let whole = of_html(&page, 1 << 20);
        prop_assert!(!whole.truncated);
        let cut = of_html(&page, budget);
        prop_assert!(whole.text.starts_with(&cut.text) && cut.truncated == (whole.text != cut.text));
    }

    /// No tag comes out of one part of a page that is only text there.
    #[test]
    fn text_that_was_escaped_comes_back_as_it_was(text in "[a-z<>&\"']{0,40}") {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        prop_assert_eq!(html(&escaped), text);
    }
}
