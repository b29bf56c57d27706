//! Expectations: figures of the file, read from recorded telemetry.
