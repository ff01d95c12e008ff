#pragma once
// JSON that is sure to be read back. What comes from nodes and BMCs holds any bytes; JSON is UTF-8
// and nothing else, knows no NaN and no infinity, and ours has a depth.
#include <boost/json.hpp>

namespace cupel {

/// Texts and keys become valid UTF-8 (U+FFFD for each byte that is no part of it), numbers that are
/// none become null, and what lies too deep for parse_json() becomes null. Changes nothing else.
/// Source: RFC 8259, 6 and 8.1.
void make_readable(boost::json::object& object);

/// By how much two numbers may differ that are one number before it was written as JSON, and after
/// it was read: Boost.JSON 1.81 reads one of ten of full precision off by one unit in its last
/// place.
double read_back_error(double one, double other);

}  // namespace cupel
