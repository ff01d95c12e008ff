#include "rehearsal/bmc/multipart.h"

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

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

bool read_fields(std::string_view text, FormPart& part) {
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

std::optional<std::string> boundary_in(std::string_view content_type) {
  if (!lower_case(content_type).starts_with("multipart/form-data")) return std::nullopt;
  auto boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary) return std::nullopt;
  return boundary;
}

FormReader::FormReader(std::string_view boundary) : mark_{"\r\n--"} { mark_ += boundary; }

void FormReader::take(std::string_view bytes) {
  if (at_ == At::end || at_ == At::broken) return;
  waiting_ += bytes;
  while (step()) {
  }
}

/// False: more has to come first.
bool FormReader::step() {
  switch (at_) {
    case At::preamble:
      return find_first();
    case At::boundary:
      return pass_boundary();
    case At::headers:
      return read_headers();
    case At::body_begin:
      return begin_body();
    case At::body:
      return read_body();
    case At::end:
    case At::broken:
      return false;
  }
  return false;
}

bool FormReader::broken() {
  at_ = At::broken;
  waiting_.clear();
  return false;
}

bool FormReader::find_first() {
  const auto found = waiting_.find(mark_);
  if (found == waiting_.npos) {
    const auto kept = std::min(waiting_.size(), mark_.size() - 1);
    waiting_.erase(0, waiting_.size() - kept);
    return false;
  }
  waiting_.erase(0, found + mark_.size());
  at_ = At::boundary;
  return true;
}

/// After a boundary: the next part, or the end.
bool FormReader::pass_boundary() {
  if (waiting_.size() < 2) return false;
  if (waiting_.starts_with("--")) {
    at_ = At::end;
    waiting_.clear();
    return false;
  }
  if (!waiting_.starts_with("\r\n") || parts_.size() >= kMostParts) return broken();
  at_ = At::headers;
  return true;
}

bool FormReader::read_headers() {
  const auto end = waiting_.find("\r\n\r\n");
  if (end == waiting_.npos) return waiting_.size() > kMostHeaders ? broken() : false;
  FormPart part;
  if (end > kMostHeaders || !read_fields(waiting_.substr(0, end), part)) return broken();
  parts_.push_back(std::move(part));
  content_.emplace();
  waiting_.erase(0, end + 2);
  at_ = At::body_begin;
  return true;
}

/// The empty line after the headers may be the line break before the next boundary.
bool FormReader::begin_body() {
  if (waiting_.size() < mark_.size()) return false;
  if (!waiting_.starts_with(mark_)) waiting_.erase(0, 2);
  at_ = At::body;
  return true;
}

bool FormReader::read_body() {
  const auto end = waiting_.find(mark_);
  if (end != waiting_.npos) {
    close_part(end);
    return true;
  }
  if (waiting_.size() < mark_.size()) return false;
  const auto sure = waiting_.size() - mark_.size() + 1;
  content_->take(std::string_view{waiting_}.substr(0, sure));
  waiting_.erase(0, sure);
  return false;
}

void FormReader::close_part(std::size_t end) {
  content_->take(std::string_view{waiting_}.substr(0, end));
  parts_.back().content = content_->finish();
  content_.reset();
  waiting_.erase(0, end + mark_.size());
  at_ = At::boundary;
}

std::optional<std::vector<FormPart>> FormReader::finish() {
  if (at_ != At::end) return std::nullopt;
  return std::move(parts_);
}

const FormPart* part_named(const std::vector<FormPart>& parts, std::string_view name) {
  for (const auto& part : parts)
    if (part.name == name) return &part;
  return nullptr;
}

}  // namespace cupel::rehearsal
