//! Data types between Python and the engine: names, NumPy's descriptors, scalars.

use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use ringlane::task::{DType, Scalar};

use crate::error::raise;

/// The data type with one of its names in artifacts; the package knows the short ones.
pub fn dtype_of(name: &str) -> PyResult<DType> {
    name.parse().map_err(|_| PyValueError::new_err(format!("{name:?} is not a data type")))
}

/// What NumPy calls it. NumPy has no bfloat16 and no 8-bit floats: it sees integers of their size.
const fn numpy_name(dtype: DType) -> &'static str {
    match dtype {
        DType::BFloat16 => "uint16",
        DType::Float8E4M3 | DType::Float8E5M2 => "uint8",
        _ => dtype.as_str(),
    }
}

/// The descriptor of arrays of a type, made once.
pub fn descriptor(py: Python<'_>, dtype: DType) -> PyResult<&Bound<'_, PyArrayDescr>> {
    static ALL: PyOnceLock<Vec<Py<PyArrayDescr>>> = PyOnceLock::new();
    let make = |dtype: &DType| PyArrayDescr::new(py, numpy_name(*dtype)).map(Bound::unbind);
    let all = ALL.get_or_try_init(py, || DType::ALL.iter().map(make).collect::<PyResult<_>>())?;
    Ok(all[dtype as usize].bind(py))
}

/// A Python number as a scalar of a type.
pub fn scalar_of(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Scalar> {
    macro_rules! number {
        ($($variant:ident: $number:ty),*) => {
            match dtype {
                DType::Bool => value.is_truthy().map(Scalar::new),
                DType::Float16 => value.extract().map(|x: f64| Scalar::new(half::f16::from_f64(x))),
                DType::BFloat16 => value.extract().map(|x: f64| Scalar::new(half::bf16::from_f64(x))),
                $(DType::$variant => value.extract::<$number>().map(Scalar::new),)*
                _ => value.extract::<u8>().map(|bits| Scalar::from_bits(bits.into(), dtype).expect("8 bits")),
            }
        };
    }
    let scalar = number!(Int8: i8, UInt8: u8, Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64,
        UInt64: u64, Float32: f32, Float64: f64);
    scalar.map_err(|cause| {
        let shown = value.repr().map_or_else(|_| "the value".to_string(), |text| text.to_string());
        let detail = format!("{shown} as {dtype}: {cause}");
        raise(
            "BadScalar",
            "a value does not fit the type of the parameter",
            &detail,
            "pass a number of this type",
        )
    })
}

/// A scalar as a Python number.
pub fn number_of<'py>(py: Python<'py>, scalar: Scalar) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! number {
        ($($variant:ident: $number:ty),*) => {
            match scalar.dtype() {
                DType::Bool => scalar.get::<bool>().unwrap_or_default().into_pyobject(py)?.to_owned().into_any(),
                DType::Float16 => scalar.get::<half::f16>().unwrap_or_default().to_f64().into_pyobject(py)?.into_any(),
                DType::BFloat16 => scalar.get::<half::bf16>().unwrap_or_default().to_f64().into_pyobject(py)?.into_any(),
                $(DType::$variant => scalar.get::<$number>().unwrap_or_default().into_pyobject(py)?.into_any(),)*
                _ => scalar.bits().into_pyobject(py)?.into_any(),
            }
        };
    }
    Ok(
        number!(Int8: i8, UInt8: u8, Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64, UInt64: u64,
        Float32: f32, Float64: f64),
    )
}
