#include "orchestrator/dcim/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <set>

#include "base/text.h"

namespace cupel::dcim {
namespace {

constexpr std::size_t kPage = 200, kMostShown = 300, kLongestId = 64, kLongestVersion = 40;

std::string encoded(std::string_view text) {
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace

std::string_view to_string(Product product) {
  return product == Product::netbox ? "NetBox" : "Nautobot";
}

std::string path_with(std::string_view path, const Filters& filters) {
  std::string all{path};
  for (const auto& [key, value] : filters) {
    all += all.find('?') == all.npos ? '?' : '&';
    all += encoded(key) + "=" + encoded(value);
  }
  return all;
}

std::string id_of(const json::object& item) {
  const auto* found = item.if_contains("id");
  if (found == nullptr) return {};
  std::string id;
  if (const auto* number = found->if_int64()) id = std::to_string(*number);
  if (const auto* number = found->if_uint64()) id = std::to_string(*number);
  if (const auto* text = found->if_string()) id = std::string{*text};
  // Nothing that means something in a path: no dot, no slash.
  const bool fits = id.size() <= kLongestId && std::ranges::all_of(id, [](char c) {
                      return c != '.' && c != '~' && boost::urls::unreserved_chars(c);
                    });
  return fits ? id : std::string{};
}

Client::Client(std::string url, std::string ca, inventory::SecretRef token, ListLimits most)
    : client_{{.name = "the REST API",
               .section = "--token",
               .url = std::move(url),
               .ca = std::move(ca),
               .token = std::move(token),
               .present =
                   [](const std::string& token) {
                     // NetBox 4.5 has tokens of a second version, which say so themselves.
                     const auto* scheme = token.starts_with("nbt_") ? "Bearer " : "Token ";
                     return std::vector<std::string>{"Authorization: " + (scheme + token)};
                   }}},
      most_{most} {}

Task<Result<json::value>> Client::ask(handoff::ApiRequest request, Deadline deadline) {
  const auto what = request.method + " " + request.path;
  CO_TRY(auto answer, co_await client_.ask(std::move(request), deadline));
  if (answer.status >= 200 && answer.status < 300) co_return std::move(answer.body);
  const auto words =
      shortened(printable(text_at(answer.body, "detail").value_or(answer.text)), kMostShown);
  co_return Error{answer.status == 404 ? Code::kNotFound : Code::kFailed,
                  fmt::format("{}: {}: HTTP {}: {}", client_.server().who(),
                              shortened(printable(what), kMostShown), answer.status, words)};
}

Task<Result<Server>> Client::status(Deadline deadline) {
  handoff::ApiRequest request;
  request.path = "/api/status/";
  CO_TRY(const auto answer, co_await ask(std::move(request), deadline));
  for (const auto& [key, product] : {std::pair{"netbox-version", Product::netbox},
                                     std::pair{"nautobot-version", Product::nautobot}})
    if (const auto version = text_at(answer, key))
      co_return Server{product, shortened(printable(*version), kLongestVersion)};
  co_return Error{Code::kMalformed,
                  fmt::format("{}: /api/status/ names neither a NetBox nor a Nautobot version: is "
                              "the URL that of its front page?",
                              client_.server().who())};
}

Task<Result<Client::Page>> Client::page(std::string path, Filters filters, std::size_t offset,
                                        Deadline deadline) {
  filters.emplace_back("limit", std::to_string(kPage));
  filters.emplace_back("offset", std::to_string(offset));
  handoff::ApiRequest request;
  request.path = path_with(path, filters);
  request.most = 32u << 20;
  CO_TRY(auto answer, co_await ask(std::move(request), deadline));
  const auto* results = find(answer, "results");
  const auto* list = results == nullptr ? nullptr : results->if_array();
  if (list == nullptr)
    co_return Error{Code::kMalformed,
                    fmt::format("{}: {} answers with no results", client_.server().who(), path)};
  Page page;
  for (const auto& each : *list) {
    const auto* item = each.if_object();
    if (item == nullptr || id_of(*item).empty())
      co_return Error{Code::kMalformed, fmt::format("{}: {} has an item without an id",
                                                    client_.server().who(), path)};
    page.items.push_back(*item);
  }
  page.count = number_at(answer, "count");
  const auto* next = find(answer, "next");
  page.is_last = page.items.empty() || next == nullptr || next->is_null();
  co_return page;
}

Task<Result<std::vector<json::object>>> Client::first(std::string path, Filters filters,
                                                      Deadline deadline) {
  CO_TRY(auto first, co_await page(std::move(path), std::move(filters), 0, deadline));
  co_return std::move(first.items);
}

Task<Result<std::vector<json::object>>> Client::list(std::string path, Filters filters,
                                                     Deadline deadline) {
  std::vector<json::object> all;
  std::set<std::string> ids;
  std::optional<double> count;  // as the first page has it
  std::size_t bytes = 0;
  for (std::size_t offset = 0; offset < most_.items && bytes < most_.bytes;) {
    CO_TRY(auto next, co_await page(path, filters, offset, deadline));
    if (offset == 0) count = next.count;
    offset += next.items.size();
    for (auto& item : next.items) {
      if (!ids.insert(id_of(item)).second) continue;
      bytes += json::serialize(item).size();
      all.push_back(std::move(item));
    }
    // Pages go by their offset: where an item goes meanwhile, another one is never seen.
    const bool has_all = !count || static_cast<double>(all.size()) == *count;
    if (next.count != count || (next.is_last && !has_all))
      co_return Error{Code::kBusy, fmt::format("{}: {} changed while it was read: do it again",
                                               client_.server().who(), path)};
    if (next.is_last) co_return all;
  }
  co_return Error{Code::kMalformed,
                  fmt::format("{}: {} has more than {} items, or {} MiB: name fewer with --filter",
                              client_.server().who(), path, most_.items, most_.bytes >> 20)};
}

Task<Result<void>> Client::patch(std::string path, json::object change, Deadline deadline) {
  handoff::ApiRequest request;
  request.method = "PATCH";
  request.path = std::move(path);
  request.body = json::serialize(change);
  CO_TRY(co_await ask(std::move(request), deadline));
  co_return ok();
}

Task<Result<void>> Client::post(std::string path, json::object item, Deadline deadline) {
  handoff::ApiRequest request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = json::serialize(item);
  CO_TRY(co_await ask(std::move(request), deadline));
  co_return ok();
}

}  // namespace cupel::dcim
