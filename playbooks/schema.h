#pragma once
// The playbook format as JSON Schema, for editors that complete and check while one types. Made of
// the tables that the parser reads by (format.h, step_kind.h, burnin/stage.h).
#include <boost/json/object.hpp>

namespace cupel::playbooks {

/// What it refuses, the parser refuses too. The parser refuses more: order, names that must be
/// known, what only an inventory can tell. Source: JSON Schema 2020-12.
boost::json::object playbook_schema();

}  // namespace cupel::playbooks
