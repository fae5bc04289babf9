//! The scanner against `serde_json`, whatever the document and wherever the buffer ends.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::*;

const BYTES_MAX: usize = 1 << 16;

/// JSON text with white space between tokens, escapes, and fields in any order.
fn any_json() -> impl Strategy<Value = String> {
    let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r ")];
    let string = || prop_oneof![any_string(), Just(r#""\u00e9\ud83d\ude00\/\"\\""#.to_string())];
    let number = prop_oneof![any::<i64>().prop_map(|n| n.to_string()), Just("-1.5e+3".to_string())];
    let word = prop_oneof![Just("true"), Just("false"), Just("null")].prop_map(str::to_string);
    prop_oneof![string(), number, word].prop_recursive(4, 40, 5, move |inner| {
        let item =
            (space(), inner, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"));
        let array = prop::collection::vec(item.clone(), 0..5);
        let field = (space(), string(), space(), item);
        let field = field.prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        let object = prop::collection::vec(field, 0..5);
        prop_oneof![
            array.prop_map(|items| format!("[{}]", items.join(","))),
            object.prop_map(|fields| format!("{{{}}}", fields.join(","))),
        ]
    })
}

fn any_string() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap())
}

/// Reads the outer object or array of a text piece by piece; what is no such is read whole.
fn read_in_pieces(scanner: &mut Scanner<'_>) -> Result<Value, ReadError> {
    let value = match scanner.peek()? {
        Some(b'[') => Value::Array(read_array(scanner)?),
        Some(b'{') => Value::Object(read_object(scanner)?),
        _ => serde_json::from_slice(scanner.value()?)?,
    };
    scanner.finish()?;
    Ok(value)
}

fn read_array(scanner: &mut Scanner<'_>) -> Result<Vec<Value>, ReadError> {
    let mut items = Vec::new();
    scanner.take(b"[", "an array")?;
    if scanner.peek()? == Some(b']') {
        scanner.consume(1);
        return Ok(items);
    }
    loop {
        items.push(serde_json::from_slice(scanner.value()?)?);
        if scanner.take(b",]", "`,` or `]`")? == b']' {
            return Ok(items);
        }
    }
}

fn read_object(scanner: &mut Scanner<'_>) -> Result<serde_json::Map<String, Value>, ReadError> {
    let mut fields = serde_json::Map::new();
    scanner.take(b"{", "an object")?;
    if scanner.peek()? == Some(b'}') {
        scanner.consume(1);
        return Ok(fields);
    }
    loop {
        let key = scanner.key()?;
        fields.insert(key, serde_json::from_slice(scanner.value()?)?);
        if scanner.take(b",}", "`,` or `}`")? == b'}' {
            return Ok(fields);
        }
    }
}

fn skips(text: &[u8], buffer_bytes: usize) -> bool {
    let mut scanner = Scanner::with_sizes(text, buffer_bytes, BYTES_MAX);
    scanner.skip().and_then(|()| scanner.finish()).is_ok()
}

proptest! {
    #[test]
    fn a_document_is_what_serde_says_wherever_the_buffer_ends(text in any_json(), buffer_bytes in 0..64usize) {
        let mut scanner = Scanner::with_sizes(text.as_bytes(), buffer_bytes, BYTES_MAX);
        let expected: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read_in_pieces(&mut scanner).unwrap(), expected);
        prop_assert!(skips(text.as_bytes(), buffer_bytes));
    }

    #[test]
    fn what_is_damaged_for_serde_is_damaged_and_what_is_not_is_not(
        text in any_json(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(&b"{}[],:\"\\ 01.e-u"[..])]), 1..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
        buffer_bytes in 1..32usize,
    ) {
        let mut text = text.into_bytes();
        for (place, byte) in changes {
            let place = place.index(text.len());
            text[place] = byte;
        }
        text.truncate(cut.map_or(text.len(), |cut| cut.index(text.len())));
        let mut scanner = Scanner::with_sizes(&text[..], buffer_bytes, BYTES_MAX);
        let read = read_in_pieces(&mut scanner).ok();
        prop_assert_eq!(read, serde_json::from_slice::<Value>(&text).ok());
        prop_assert_eq!(skips(&text, buffer_bytes), serde_json::from_slice::<IgnoredAny>(&text).is_ok());
    }
}

#[test]
fn a_value_past_the_limit_is_damage_unless_it_is_skipped() {
    let text = format!("[\"{}\"]", "x".repeat(100));
    let mut scanner = Scanner::with_sizes(text.as_bytes(), 8, 64);
    let error = scanner.value().unwrap_err().to_string();
    assert_eq!(error, "a value has more than 64 bytes (at byte 0)");
    assert!(Scanner::with_sizes(text.as_bytes(), 8, 64).skip().is_ok());
    assert!(Scanner::with_sizes(text.as_bytes(), 8, text.len()).value().is_ok());
}

#[test]
fn no_nesting_overflows_the_stack_and_too_deep_a_one_is_damage() {
    let deep = [vec![b'['; 1 << 20], vec![b']'; 1 << 20]].concat();
    assert!(Scanner::new(&deep[..]).skip().is_ok());
    assert_eq!(Scanner::new(&deep[..]).value().unwrap().len(), deep.len());
    let error = Scanner::with_sizes(&deep[..], 64, 1000).skip().unwrap_err().to_string();
    assert!(error.starts_with("more than 1000 brackets are open"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_not_damage() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no more"))
        }
    }
    assert!(matches!(Scanner::new(Broken).peek(), Err(ReadError::Io(_))));
    assert!(matches!(Scanner::new((&b"[1, "[..]).chain(Broken)).value(), Err(ReadError::Io(_))));
}

#[test]
fn damage_is_reported_with_its_place() {
    for (text, what) in [
        ("[1, 2", "the file ends within a value (at byte 5)"),
        ("[1 2]", "expected `,` or `]` (at byte 3)"),
        ("[1,]", "expected a value (at byte 3)"),
        ("{1: 2}", "expected the name of a field (at byte 1)"),
        ("{\"a\" 2}", "expected `:` (at byte 5)"),
        ("[\"\\x\"]", "invalid escape (at byte 3)"),
        ("[\"\n\"]", "a control character is in a string (at byte 2)"),
        ("[1] 2", "there is data after the end (at byte 4)"),
    ] {
        for buffer_bytes in [1, 64] {
            let mut scanner = Scanner::with_sizes(text.as_bytes(), buffer_bytes, 64);
            let error = scanner.skip().and_then(|()| scanner.finish()).unwrap_err().to_string();
            assert_eq!(error, what, "{text}");
        }
    }
}
