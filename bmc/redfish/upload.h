#pragma once
// A file as the body of a request: alone, or as the last part of a form. Which form which BMC wants
// is in update_push.cpp.
#include <vector>

#include "bmc/redfish/file_feed.h"

namespace cupel::bmc::redfish {

struct FormField {
  std::string name;
  std::string type;  // of its content; empty: not given
  std::string text;
};

struct Upload {
  CheckedFile file{};
  std::string name{};               // of the file, as the BMC sees it
  std::string field{};              // of the form; empty: the body is the file alone
  std::vector<FormField> fields{};  // before it
  /// The form's first field, and a cookie, of this name hold the session's token; empty: neither.
  std::string session{};
  std::vector<std::string> headers{};
};

/// What stands around the file. Source: RFC 7578, 4 and RFC 2046, 5.1.1.
struct Envelope {
  std::string content_type{}, before{}, after{};
};
Envelope envelope_of(const Upload& upload);

}  // namespace cupel::bmc::redfish
