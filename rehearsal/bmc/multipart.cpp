#include "rehearsal/bmc/multipart.h"

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kMostParts = 16;
constexpr std::size_t kLongestBoundary = 70;  // RFC 2046, 5.1.1

/// The value of `key` in 'form-data; name="a b"; filename=c'; empty: it is not there.
std::string parameter(std::string_view header, std::string_view key) {
  for (std::size_t at = header.find(';'); at != header.npos;) {
    auto rest = trimmed(header.substr(at + 1));
    const auto equals = rest.find('=');
    if (equals == rest.npos) return {};
    const auto name = lower_case(trimmed(rest.substr(0, equals)));
    auto value = rest.substr(equals + 1);
    const bool quoted = value.starts_with('"');
    const auto end = quoted ? value.find('"', 1) : value.find(';');
    const auto text = value.substr(quoted ? 1 : 0, quoted ? end - 1 : end);
    if (name == key) return std::string{trimmed(text)};
    const auto after = end == value.npos ? value.npos : value.find(';', end);
    if (after == value.npos) return {};
    header = value;
    at = after;
  }
  return {};
}

bool read_headers(std::string_view text, FormPart& part) {
  for (const auto line : lines(text)) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto name = lower_case(trimmed(line.substr(0, colon)));
    const auto value = trimmed(line.substr(colon + 1));
    if (name == "content-type") part.content_type = value;
    if (name != "content-disposition") continue;
    part.name = parameter(value, "name");
    part.file_name = parameter(value, "filename");
  }
  return !part.name.empty();
}

}  // namespace

std::optional<std::vector<FormPart>> read_form(std::string_view content_type,
                                               std::string_view body) {
  if (!lower_case(content_type).starts_with("multipart/form-data")) return std::nullopt;
  const auto boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary) return std::nullopt;
  const auto mark = "--" + boundary;
  std::vector<FormPart> parts;
  auto at = body.find(mark);
  while (at != body.npos && parts.size() <= kMostParts) {
    auto rest = body.substr(at + mark.size());
    if (rest.starts_with("--")) return parts;
    const auto headers_end = rest.find("\r\n\r\n");
    const auto end = rest.find("\r\n" + mark);
    if (headers_end == rest.npos || end == rest.npos || end < headers_end + 2) return std::nullopt;
    FormPart part;
    if (!read_headers(rest.substr(0, headers_end), part)) return std::nullopt;
    const auto from = std::min(headers_end + 4, end);
    part.body = rest.substr(from, end - from);
    parts.push_back(std::move(part));
    at += mark.size() + end + 2;
  }
  return std::nullopt;
}

const FormPart* part_named(const std::vector<FormPart>& parts, std::string_view name) {
  for (const auto& part : parts)
    if (part.name == name) return &part;
  return nullptr;
}

}  // namespace cupel::rehearsal
