#pragma once
// The parts of a multipart/form-data body. Source: RFC 7578, and RFC 2046, 5.1.1. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::rehearsal {

struct FormPart {
  std::string name{};
  std::string file_name{};
  std::string content_type{};
  std::string_view body{};  // of the text that was read
};

/// Nothing where `content_type` is not multipart/form-data with a boundary, the last boundary is
/// missing, a part has no name, or there are more than 16 of them.
std::optional<std::vector<FormPart>> read_form(std::string_view content_type,
                                               std::string_view body);
const FormPart* part_named(const std::vector<FormPart>& parts, std::string_view name);

}  // namespace cupel::rehearsal
