#pragma once
// The rules of DMTF that a resource must keep, as far as a table of facts tells them: types that
// there are, properties that are required, kinds of values, words of enumerations, the version
// since which each is there. Not a schema validator: what the table does not know is a complaint.
#include <string>
#include <vector>

#include "base/json.h"

namespace cupel::rehearsal {

/// What is wrong with a resource, one line each: "/redfish/v1/Systems/1 Boot/Mode: ...". Empty:
/// nothing. What is below Oem is the vendor's own.
std::vector<std::string> complaints_about(const std::string& uri, const json::value& resource);

/// What is wrong with the methods that an Allow header grants.
std::vector<std::string> complaints_about_methods(const std::string& uri,
                                                  const json::value& resource,
                                                  std::string_view allow);

}  // namespace cupel::rehearsal
