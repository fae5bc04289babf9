//! Registers scenes of other crates.

/// Registers a scene: a program with parameters, cases and a golden.
///
/// All values of parameters are text; a case sets some of them. `build` is a function from [`Settings`] to a boxed
/// [`Program`]; it refuses impossible settings. `kernels` are those that the program submits: with them
/// `--dump-tensor=KERNEL` is checked before anything runs.
///
/// ```
/// use ringlane::prelude::*;
///
/// struct Nothing;
///
/// impl Program for Nothing {
///     fn buffers(&mut self) -> Result<Buffers<'static>> { Ok(Buffers::new()) }
///     fn orchestrate(&self, _: &mut Orch<'_, '_>) -> Result<()> { Ok(()) }
///     fn golden(&self, _: &Buffers<'_>) -> Result<Golden> { Ok(Golden::default()) }
/// }
///
/// scene! {
///     name: "nothing",
///     about: "a scene that does nothing",
///     params: { "n" = "16": "how much of it" },
///     cases: { "small": "a little", "large": "a lot" { "n" = "4096" } },
///     kernels: [],
///     build: |_| Ok(Box::new(Nothing)),
/// }
/// # let names: Vec<_> = ringlane::inventory::iter::<Scene>.into_iter().map(|s| s.name).collect();
/// # assert!(names.contains(&"nothing"));
/// ```
///
/// [`Settings`]: ringlane_scenes::Settings
/// [`Program`]: ringlane_scenes::Program
#[macro_export]
macro_rules! scene {
    (
        name: $name:expr,
        about: $about:expr,
        params: { $($param:literal = $default:literal : $param_about:literal),* $(,)? },
        cases: { $($case:literal : $case_about:literal $({ $($set:literal = $value:literal),* $(,)? })?),+ $(,)? },
        kernels: [$($kernel:expr),* $(,)?],
        build: $build:expr $(,)?
    ) => {
        $crate::inventory::submit! {
            $crate::scenes::Scene {
                site: ::core::panic::Location::caller(),
                name: $name,
                about: $about,
                params: &[$($crate::scenes::Param { name: $param, default: $default, about: $param_about }),*],
                cases: &[$($crate::scenes::Case {
                    name: $case,
                    about: $case_about,
                    set: &[$($(($set, $value)),*)?],
                }),+],
                kernels: &[$(&$kernel),*],
                build: &$build,
            }
        }
    };
}
