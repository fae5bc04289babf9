//! How values that JSON has no form for are written: flags as hexadecimal, policies by name, and numbers
//! that are not finite as strings.

pub(super) mod flags {
    use ringlane_task::{DfxFlags, Explain};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(flags: &DfxFlags, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(flags)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DfxFlags, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let bits = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let bits = bits.ok_or_else(|| D::Error::custom(format!("dfx_flags {text:?} is not hexadecimal")))?;
        DfxFlags::from_bits(bits).map_err(|error| D::Error::custom(error.detail()))
    }
}

pub(super) mod overflow {
    use ringlane_task::Overflow;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(policy: &Overflow, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(policy.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Overflow, D::Error> {
        let text = String::deserialize(from)?;
        Overflow::from_name(&text)
            .ok_or_else(|| D::Error::custom(format!("overflow {text:?} is neither block nor drop")))
    }
}

pub(super) mod float {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(f64),
        Text(String),
    }

    pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { to.serialize_f64(*value) } else { to.collect_str(value) }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Form::deserialize(from)? {
            Form::Number(value) => Ok(value),
            Form::Text(text) => {
                text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a number")))
            }
        }
    }
}
