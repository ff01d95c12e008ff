#include "orchestrator/api/static_files.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "orchestrator/api/entity_tag.h"
#include "orchestrator/api/problem.h"

namespace cupel::api {
namespace {

/// "gzip;q=0" is not acceptable. Source: RFC 9110, 12.4.2.
bool is_refused(std::span<const std::string_view> parameters) {
  for (const auto each : parameters) {
    const auto text = lower_case(trimmed(each));
    if (text.starts_with("q=")) return text.find_first_not_of("0.", 2) == text.npos;
  }
  return false;
}

}  // namespace

bool accepts_gzip(std::string_view field) {
  bool any = false;
  for (const auto each : split(field, ',')) {
    const auto words = split(each, ';');
    const auto coding = lower_case(trimmed(words.front()));
    const bool taken = !is_refused(std::span{words}.subspan(1));
    if (coding == "gzip" || coding == "x-gzip") return taken;
    if (coding == "*") any = taken;
  }
  return any;
}

StaticFiles::StaticFiles(std::span<const StaticFile> files, std::string_view policy) {
  for (const auto& file : files) {
    auto& ready = files_[std::string{file.path}];
    const auto digest = sha256_hex(file.bytes).substr(0, 24);
    ready.plain = {shared_text(std::string{file.bytes}), fmt::format("\"{}\"", digest)};
    if (!file.gzip.empty())
      ready.packed = {shared_text(std::string{file.gzip}), fmt::format("\"{}z\"", digest)};
    ready.usual.type = file.type;
    ready.usual.fields = {
        {"Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache"},
        {"Content-Security-Policy", std::string{policy}},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"}};
    if (!file.gzip.empty()) ready.usual.fields.emplace_back("Vary", "Accept-Encoding");
  }
}

Answer StaticFiles::Form::answer(const Request& request, const Answer& usual) const {
  auto answer = usual;
  answer.fields.emplace_back("ETag", tag);
  answer.body = body;
  if (has_tag(request.field("if-none-match"), tag)) {
    answer.status = 304;
    answer.body = shared_text({});
  }
  return answer;
}

std::optional<Answer> StaticFiles::answer(const Request& request) const {
  const auto found = files_.find(request.path);
  if (found == files_.end()) return std::nullopt;
  const auto& [path, file] = *found;
  if (request.method != "GET" && request.method != "HEAD")
    return answer_of({405, "method", path + " takes GET, HEAD", {}, {}, "GET, HEAD"});
  const bool packed = file.packed.body && accepts_gzip(request.field("accept-encoding"));
  if (!packed) return file.plain.answer(request, file.usual);
  auto answer = file.packed.answer(request, file.usual);
  if (answer.status != 304) answer.fields.emplace_back("Content-Encoding", "gzip");
  return answer;
}

}  // namespace cupel::api
