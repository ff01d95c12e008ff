#pragma once
// A captured tree behind Fetch: reading inventories without sockets.
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "bmc/redfish/fetch.h"
#include "tests/support/captures.h"

namespace cupel::test {

class CapturedFetch final : public bmc::redfish::Fetch {
 public:
  using Damage = std::function<void(const std::string& uri, json::value& body)>;

  explicit CapturedFetch(std::filesystem::path tree, Damage damage = {})
      : tree_{std::move(tree)}, damage_{std::move(damage)} {}

  Task<Result<json::value>> get(std::string uri, Deadline) override {
    ++requests;
    auto known = parsed_.find(uri);
    if (known == parsed_.end()) {
      const auto text = captured_answer(tree_, uri);
      if (!text) co_return Error{Code::kNotFound, "a01-n01: GET " + uri + ": HTTP 404"};
      auto document = parse_json(*text);
      if (!document) co_return std::move(document).error();
      known = parsed_.emplace(uri, *std::move(document)).first;
    }
    json::value body = known->second;
    if (damage_) damage_(uri, body);
    co_return body;
  }

  void damage_with(Damage damage) { damage_ = std::move(damage); }
  int requests = 0;

 private:
  std::filesystem::path tree_;
  Damage damage_;
  std::map<std::string, json::value> parsed_;
};

}  // namespace cupel::test
