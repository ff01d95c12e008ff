#include "bmc/redfish/pages.h"

#include <set>

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostFollowed = 64;  // pages

Error incomplete(const std::string& collection, const std::string& why) {
  return {Code::kMalformed, printable(collection) + ": " + why};
}

}  // namespace

Task<Result<std::vector<std::string>>> member_uris(Client& client, Document first, std::size_t most,
                                                   Deadline deadline) {
  const std::string collection = first.uri;
  const auto counted = number_at(first.body, "Members@odata.count");
  std::vector<std::string> found;
  std::set<std::string> known, pages{collection};
  json::value page = std::move(first.body);
  for (;;) {
    const auto before = found.size();
    for (auto& uri : links_at(page, "Members"))
      if (is_on_the_bmc(uri) && known.insert(normal(uri)).second) found.push_back(std::move(uri));
    if (found.size() > most)
      co_return incomplete(collection,
                           "more than " + std::to_string(most) + " members: too many to read");
    const auto next = path_of(text_at(page, "Members@odata.nextLink").value_or(""));
    if (next.empty()) co_return found;
    // A BMC that does not know how to skip sends the same page again and again.
    if (found.size() == before || !pages.insert(next).second) {
      if (counted && *counted <= static_cast<double>(found.size())) co_return found;
      co_return incomplete(collection, "its pages lead in circles");
    }
    if (pages.size() > kMostFollowed)
      co_return incomplete(
          collection, "more than " + std::to_string(kMostFollowed) + " pages: too many to read");
    auto answer = co_await client.get(next, deadline);
    if (!answer && answer.error().code == Code::kNotFound)
      co_return incomplete(collection, "a page of it is missing: " + answer.error().what);
    if (!answer) co_return std::move(answer).error();
    take_over(page, *std::move(answer));
  }
}

Task<Result<std::vector<std::string>>> member_uris(Client& client, std::string collection,
                                                   std::size_t most, Deadline deadline) {
  if (collection.empty()) co_return std::vector<std::string>{};
  CO_TRY(json::value body, co_await client.get(collection, deadline));
  Document first{std::move(collection), std::move(body)};
  co_return co_await member_uris(client, std::move(first), most, deadline);
}

}  // namespace cupel::bmc::redfish
