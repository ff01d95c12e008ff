#pragma once
// What a cause, a criterion or a number is about, for programs, where it is more than a part of the
// node in whose record it stands. "part" has the same as text.
#include <boost/json/object.hpp>
#include <string>

#include "inventory/subject.h"

namespace cupel::report {

/// "kind", and "name" with "part"; of a link "ends", each with "name" and "part".
boost::json::object to_json(const inventory::Subject& subject);

/// Adds "subject" where `part`, of a record, names a link, a switch's port, a feed or a group.
void put_subject(boost::json::object& into, const std::string& part);

}  // namespace cupel::report
