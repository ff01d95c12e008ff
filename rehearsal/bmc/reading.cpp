#include "rehearsal/bmc/reading.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::rehearsal {
namespace {

/// Which links are followed. Source: DSP0266, "The $expand query parameter".
enum class Follow { nothing, subordinate, links, everything };

struct Query {
  std::size_t skip = 0, top = std::numeric_limits<std::size_t>::max();
  Follow follow = Follow::nothing;
  int levels = 1;
};

std::string decoded(std::string_view text) {
  std::string plain_text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '%' ? text.substr(i + 1, 2) : std::string_view{};
    unsigned value = 0;
    const auto read = std::from_chars(code.data(), code.data() + code.size(), value, 16);
    if (code.size() == 2 && read.ec == std::errc{} && read.ptr == code.data() + 2) {
      plain_text += static_cast<char>(value);
      i += 2;
    } else {
      plain_text += text[i];
    }
  }
  return plain_text;
}

HttpResponse wrong_query(std::string_view name, std::string_view value) {
  return redfish_error(400, "QueryParameterValueFormatError",
                       fmt::format("The value '{}' for the parameter {} is of a different format "
                                   "than the parameter can accept.",
                                   value, name));
}

/// ".($levels=2)", "*", "~".
bool read_expand(std::string_view value, Query& query) {
  if (value.empty()) return false;
  const auto sign = value[0];
  if (sign != '.' && sign != '~' && sign != '*') return false;
  query.follow = sign == '.'   ? Follow::subordinate
                 : sign == '~' ? Follow::links
                               : Follow::everything;
  value.remove_prefix(1);
  if (value.empty()) return true;
  if (!value.starts_with("($levels=") || !value.ends_with(")")) return false;
  const auto levels = number<int>(value.substr(9, value.size() - 10));
  query.levels = levels.value_or(0);
  return query.levels >= 1;
}

std::optional<HttpResponse> read_query(std::string_view target, const ConnectionBehavior& behavior,
                                       Query& query) {
  const auto question = target.find('?');
  if (question == target.npos) return std::nullopt;
  for (const auto part : split(target.substr(question + 1), '&')) {
    const auto equals = std::min(part.find('='), part.size());
    const auto name = decoded(part.substr(0, equals));
    const auto value = decoded(part.substr(std::min(equals + 1, part.size())));
    if (!name.starts_with('$')) continue;
    if (name == "$skip" || name == "$top") {
      const auto count = number<std::size_t>(value);
      if (!count) return wrong_query(name, value);
      (name == "$skip" ? query.skip : query.top) = *count;
    } else if (name == "$expand" && behavior.expand) {
      if (!read_expand(value, query)) return wrong_query(name, value);
      if (query.levels > behavior.expand_levels) return wrong_query(name, value);
    } else {
      return redfish_error(501, "QueryNotSupported", "Querying is not supported.");
    }
  }
  return std::nullopt;
}

class Expansion {
 public:
  static constexpr std::size_t kMostResources = 2000;

  Expansion(const ResourceTree& tree, Query query, bool drops)
      : tree_{tree}, query_{query}, drops_{drops} {}

  void expand(json::value& value, int levels, bool in_links) {
    if (auto* array = value.if_array())
      for (auto& each : *array) expand(each, levels, in_links);
    auto* object = value.if_object();
    if (!object) return;
    if (replace(value, *object, levels, in_links)) return;
    for (auto& entry : *object) expand(entry.value(), levels, in_links || entry.key() == "Links");
  }

 private:
  bool is_expanded(bool in_links) const {
    if (query_.follow == Follow::everything) return true;
    return in_links == (query_.follow == Follow::links);
  }

  bool replace(json::value& value, const json::object& object, int levels, bool in_links) {
    const auto* id = object.if_contains("@odata.id");
    if (object.size() != 1 || !id || !id->is_string()) return false;
    const auto found = tree_.find(std::string{id->as_string()});
    if (levels == 0 || found == tree_.end() || !is_expanded(in_links)) return true;
    if (++resources_ > kMostResources) return true;
    json::value whole = found->second;
    if (drops_) whole.as_object().erase("Status");
    for (auto& entry : whole.as_object()) expand(entry.value(), levels - 1, entry.key() == "Links");
    value = std::move(whole);
    return true;
  }

  const ResourceTree& tree_;
  Query query_;
  bool drops_;
  std::size_t resources_ = 0;
};

/// Some of the members, and where the others are.
void cut_to_page(json::object& collection, const Query& query, std::size_t page) {
  auto* members = collection.if_contains("Members");
  if (!members || !members->is_array()) return;
  auto& all = members->as_array();
  const auto size = all.size();
  const auto first = std::min(query.skip, size);
  const auto count = std::min({query.top, page, size - first});
  json::array some;
  for (std::size_t i = first; i < first + count; ++i) some.push_back(all[i]);
  const bool by_page = count == page && first + count < size && query.top > count;
  if (by_page)
    collection["Members@odata.nextLink"] = fmt::format(
        "{}?$skip={}", std::string_view{collection["@odata.id"].as_string()}, first + count);
  collection["Members"] = std::move(some);
}

bool has_already(const HttpRequest& request, const std::string& etag) {
  if (etag.empty()) return false;
  for (const auto tag : split(request.header("if-none-match"), ','))
    if (trimmed(tag) == etag || trimmed(tag) == "*") return true;
  return false;
}

HttpResponse failed_precondition() {
  return redfish_error(412, "PreconditionFailed", "The ETag supplied did not match.");
}

/// Where the schema of a resource is. Source: DSP0266, "Link header": rel=describedby.
std::string described_by(const json::object& resource) {
  const std::string type{text_at(resource, "@odata.type").value_or("#Resource.Resource")};
  return "<http://redfish.dmtf.org/schemas/v1/" + type.substr(1, type.rfind('.') - 1) +
         ".json>; rel=describedby";
}

}  // namespace

std::string etag_of(const Tags& behavior, const json::object& resource) {
  // A clock that goes on is no change: else no tag would be good for long.
  auto meant = resource;
  meant.erase("DateTime");
  const auto digest = sha256_hex(json::serialize(meant)).substr(0, 16);
  switch (behavior.form) {
    case TagForm::none:
      return {};
    case TagForm::weak:
      return "W/\"" + digest + "\"";
    case TagForm::strong:
      return "\"" + digest + "\"";
    case TagForm::bare:
      return digest;
  }
  return {};
}

HttpResponse read_resource(const VendorBehavior& behavior, const ResourceTree& tree,
                           const HttpRequest& request, const std::string& path) {
  Query query;
  if (auto complaint = read_query(request.target, behavior.connection, query)) return *complaint;
  const auto found = tree.find(path);
  if (found == tree.end())
    return redfish_error(404, "ResourceMissingAtURI",
                         "The resource at the URI " + path + " was not found.");
  const auto etag = etag_of(behavior.tags, found->second);
  if (has_already(request, etag)) return {.status = 304, .headers = {{"ETag", etag}}};
  json::value whole = found->second;
  cut_to_page(whole.as_object(), query, behavior.layout.page);
  if (query.follow != Follow::nothing) {
    Expansion expansion{tree, query, behavior.connection.expand_drops};
    for (auto& entry : whole.as_object())
      expansion.expand(entry.value(), query.levels, entry.key() == "Links");
  }
  if (behavior.tags.in_body && !etag.empty()) whole.as_object()["@odata.etag"] = etag;
  auto response = answer(200, whole);
  if (!etag.empty()) response.headers["ETag"] = etag;
  response.headers["Link"] = described_by(found->second);
  return response;
}

std::optional<HttpResponse> unmet_condition(const Tags& behavior, const json::object& resource,
                                            const HttpRequest& request, int& good_ones) {
  const std::string match{trimmed(request.header("if-match"))};
  if (behavior.rule == TagRule::ignored) return std::nullopt;
  if (match.empty()) {
    if (behavior.rule == TagRule::required)
      return redfish_error(428, "PreconditionRequired",
                           "A precondition header or annotation is required to change this "
                           "resource: If-Match is missing.");
    if (behavior.rule == TagRule::silent) return answer(200, resource);
    return std::nullopt;
  }
  auto etag = etag_of(behavior, resource);
  if (behavior.weak_refused && etag.starts_with("W/")) etag = etag.substr(2);
  if (match != "*" && match != etag) return failed_precondition();
  const bool whim = behavior.refuses_every > 0 && ++good_ones % behavior.refuses_every == 0;
  if (whim) return failed_precondition();
  return std::nullopt;
}

}  // namespace cupel::rehearsal
