#include "bmc/redfish/survey.h"

#include <array>

#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostPages = 100;
constexpr std::size_t kMostMembers = 2000;
constexpr std::size_t kMostUnknown = 2000;
constexpr int kSilentAtMost = 3;
constexpr std::size_t kAtOnce = 2;

bool is_silence(Code code) { return code == Code::kTimeout || code == Code::kUnreachable; }

/// What is worth saying of an error behind the URI, which stands beside it anyway.
std::string reason_of(const Error& error) {
  const auto http = error.what.find("HTTP ");
  return shortened(http == std::string::npos ? error.what : error.what.substr(http), 200);
}

}  // namespace

Task<Result<Document>> Survey::fetch(std::string uri) {
  const bool stop = co_await cancelled();
  if (stop) stopped_ = Error{Code::kCancelled, "stopped while reading " + uri};
  if (stopped_) co_return *stopped_;
  if (!is_on_the_bmc(uri)) co_return Error{Code::kMalformed, "a link that leads off the BMC"};
  if (silent_ >= kSilentAtMost)
    co_return Error{Code::kUnreachable, "not asked: the BMC stopped answering"};
  if (deadline_.passed()) co_return Error{Code::kTimeout, "not asked: out of time"};
  ++seen_.requests;
  auto answer = co_await fetch_.get(uri, deadline_);
  if (!answer) {
    Error error = std::move(answer).assume_error();
    silent_ = is_silence(error.code) ? silent_ + 1 : 0;
    if (error.code == Code::kCancelled || error.code == Code::kUntrusted) stopped_ = error;
    co_return error;
  }
  silent_ = 0;
  if (!answer.assume_value().is_object()) co_return Error{Code::kMalformed, "not a JSON object"};
  co_return Document{std::move(uri), std::move(answer).assume_value()};
}

Task<Result<Document>> Survey::need(std::string uri) { return fetch(std::move(uri)); }

Task<std::optional<Document>> Survey::read(std::string uri, std::string fact) {
  auto answer = co_await fetch(uri);
  if (answer) co_return std::move(answer).assume_value();
  unknown(std::move(fact), std::move(uri), reason_of(answer.assume_error()));
  co_return std::nullopt;
}

Task<std::vector<std::string>> Survey::links(std::string collection, std::string fact) {
  std::vector<std::string> found;
  std::set<std::string> known, pages;
  std::string page = std::move(collection);
  // A page that was there before, or brings nothing new, is where a sick BMC would go in circles.
  while (!page.empty() && pages.insert(page).second && pages.size() <= kMostPages) {
    const auto document = co_await read(page, fact);
    if (!document) break;
    const auto before = found.size();
    for (auto& link : links_at(document->body, "Members")) {
      if (found.size() < kMostMembers && known.insert(normal(link)).second)
        found.push_back(std::move(link));
    }
    if (before == found.size()) break;
    const auto next = text_at(document->body, "Members@odata.nextLink");
    page = next ? path_of(*next) : std::string{};
  }
  co_return found;
}

Task<std::vector<Document>> Survey::members(std::string collection, std::string fact,
                                            std::span<const std::string_view> but) {
  if (collection.empty()) co_return std::vector<Document>{};
  auto uris = co_await links(std::move(collection), fact);
  std::erase_if(uris, [&](const std::string& uri) {
    return std::ranges::any_of(
        but, [&](auto word) { return last_name(uri).find(word) != std::string_view::npos; });
  });
  co_return co_await read_all(std::move(uris), std::move(fact));
}

Task<std::vector<Document>> Survey::read_all(std::vector<std::string> uris, std::string fact) {
  const auto sources = uris;
  const auto read_one = [this](const std::string& uri) { return fetch(uri); };
  auto answers = co_await for_each_of<Document>(std::move(uris), kAtOnce, read_one);
  std::vector<Document> found;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      found.push_back(std::move(answers[i]).assume_value());
    } else {
      unknown(fact + " " + std::string{last_name(sources[i])}, sources[i],
              reason_of(answers[i].assume_error()));
    }
  }
  co_return found;
}

void Survey::unknown(std::string fact, std::string source, std::string why) {
  if (seen_.unknown.size() < kMostUnknown)
    seen_.unknown.push_back({std::move(fact), printable(source), printable(why)});
}

void Survey::add(inventory::Part part) {
  using enum inventory::PartKind;
  constexpr std::array kSerialised{gpu, dimm, psu, nvme, hca};
  const bool serialised = std::ranges::find(kSerialised, part.kind) != kSerialised.end();
  if (serialised && part.serial.empty()) unknown("serial of " + part.name, part.source, "absent");
  if (part.kind == gpu && part.model.empty())
    unknown("model of " + part.name, part.source, "absent");
  seen_.parts.push_back(std::move(part));
}

std::string told(const json::value& body, std::string_view path) {
  constexpr std::array<std::string_view, 12> kNothing{"n/a",
                                                      "na",
                                                      "nil",
                                                      "none",
                                                      "null",
                                                      "unknown",
                                                      "n.a.",
                                                      "not available",
                                                      "not applicable",
                                                      "not specified",
                                                      "undefined",
                                                      "to be filled by o.e.m."};
  const auto text = text_at(body, path);
  if (!text) return {};
  const std::string readable{trimmed(printable(shortened(*text, 256)))};
  const auto lower = lower_case(readable);
  if (std::ranges::find(kNothing, lower) != kNothing.end()) return {};
  if (readable.size() >= 8 && readable.find_first_not_of('0') == std::string::npos) return {};
  return readable;
}

std::string link_at(const json::value& body, std::string_view path) {
  const auto* value = find(body, path);
  if (value == nullptr) return {};
  const auto uri = path_of(text_at(*value, "@odata.id").value_or(""));
  return is_on_the_bmc(uri) ? uri : std::string{};
}

std::vector<std::string> links_at(const json::value& body, std::string_view path) {
  std::vector<std::string> found;
  const auto* value = find(body, path);
  const auto* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr) return found;
  for (const auto& one : *list) {
    auto uri = path_of(text_at(one, "@odata.id").value_or(""));
    if (!uri.empty()) found.push_back(std::move(uri));
  }
  return found;
}

bool is_absent(const json::value& body) { return text_at(body, "Status/State") == "Absent"; }

bool natural_less(std::string_view left, std::string_view right) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at_front = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    auto digits = text.substr(0, end);
    text.remove_prefix(end);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
  };
  while (!left.empty() && !right.empty()) {
    if (digit(left.front()) && digit(right.front())) {
      const auto a = number_at_front(left), b = number_at_front(right);
      if (a.size() != b.size()) return a.size() < b.size();
      if (a != b) return a < b;
      continue;
    }
    if (left.front() != right.front()) return left.front() < right.front();
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  return left.size() < right.size();
}

inventory::Part part_of(inventory::PartKind kind, std::string name, const Document& from) {
  inventory::Part part{.kind = kind, .name = std::move(name), .source = from.uri};
  part.model = told(from.body, "Model");
  part.manufacturer = told(from.body, "Manufacturer");
  part.serial = told(from.body, "SerialNumber");
  part.part_number = told(from.body, "PartNumber");
  part.firmware = told(from.body, "FirmwareVersion");
  part.health = told(from.body, "Status/Health");
  for (const auto* where : {"Location/PartLocation/ServiceLabel",
                            "PhysicalLocation/PartLocation/ServiceLabel", "Location"}) {
    if (part.slot.empty()) part.slot = told(from.body, where);
  }
  // Each module of a GB200 has a GPU_0 and a GPU_1.
  const auto within = told(from.body, "Location/PartLocationContext");
  if (!within.empty() && !part.slot.empty()) part.slot = within + "/" + part.slot;
  return part;
}

}  // namespace cupel::bmc::redfish
