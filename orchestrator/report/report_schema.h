#pragma once
// The JSON Schema (draft 2020-12) of what `cupel report --json` prints, made from one table of
// keys.
#include <boost/json/object.hpp>

namespace cupel::report {

/// Which other keys an object may have. A reader must accept keys that it does not know: a version
/// that adds one does not raise "schema".
enum class OtherKeys { allowed, refused };

boost::json::object report_schema(OtherKeys others = OtherKeys::allowed);

}  // namespace cupel::report
