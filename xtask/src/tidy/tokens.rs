//! Rust source as tokens, so that strings, comments and lifetimes cannot confuse a rule.
//!
//! Tokens rather than a syntax tree: the bodies of `macro_rules!` are checked like any other code, and the
//! tokenizer builds in a second where a full parser takes ten.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens between one pair of brackets (or of the whole file); inner brackets are single tokens.
pub type Level = Vec<TokenTree>;

/// Every level of nesting of a source text; `None` if it is no Rust.
pub fn levels(text: &str) -> Option<Vec<Level>> {
    let mut levels = Vec::new();
    collect(text.parse().ok()?, &mut levels);
    Some(levels)
}

fn collect(stream: TokenStream, levels: &mut Vec<Level>) {
    let level: Level = stream.into_iter().collect();
    for token in &level {
        if let TokenTree::Group(group) = token {
            collect(group.stream(), levels);
        }
    }
    levels.push(level);
}

/// Line of a token's first character, from 1.
pub fn line_of(token: &TokenTree) -> usize {
    token.span().start().line
}

/// Whether the token is this word.
pub fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == word)
}

/// Whether the token is this punctuation mark.
pub fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The token as a block in braces.
pub fn as_block(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nesting_is_a_level_and_comments_are_none() {
        let levels = levels("fn f() { g(\"{\"); /* { */ } // }").unwrap();
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 3, 4]);
    }

    #[test]
    fn an_open_bracket_is_no_rust() {
        assert!(levels("fn f() {").is_none());
    }
}
