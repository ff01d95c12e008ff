#pragma once
// AWS Signature Version 4, as a server verifies it. Written from AWS's description of it, "Create a
// signed AWS API request"; the examples of "Authenticating Requests: Using the Authorization
// Header" are its test. Shares no code with what signs.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::test {

using Heads = std::map<std::string, std::string>;  // by name in lower case

inline Heads heads_of(std::string_view head) {
  Heads found;
  for (const auto line : cupel::lines(head)) {
    const auto colon = line.find(':');
    if (colon != line.npos)
      found[lower_case(line.substr(0, colon))] = std::string{trimmed(line.substr(colon + 1))};
  }
  return found;
}

struct SigningScope {
  std::string time{};  // "20130524T000000Z"
  std::string region = "us-east-1";
  std::string service = "s3";

  std::string text() const {
    return fmt::format("{}/{}/{}/aws4_request", time.substr(0, 8), region, service);
  }
};

inline std::string hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), made.data(), &length);
  return {reinterpret_cast<const char*>(made.data()), length};
}

inline std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto part : split(query, '&')) {
    const auto equals = std::min(part.find('='), part.size());
    if (!part.empty())
      all.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
  }
  std::ranges::sort(all);
  std::string text;
  for (const auto& [name, value] : all)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  return text;
}

/// In hexadecimal. `signed_heads`: in their order; `target`: path and query as they were sent.
inline std::string sigv4(std::string_view method, std::string_view target, const Heads& heads,
                         const std::vector<std::string>& signed_heads, std::string_view secret,
                         const SigningScope& scope) {
  const auto mark = std::min(target.find('?'), target.size());
  std::string canonical, names;
  for (const auto& name : signed_heads) {
    canonical += fmt::format("{}:{}\n", name, heads.at(name));
    names += (names.empty() ? "" : ";") + name;
  }
  const auto request =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", method, target.substr(0, mark),
                  canonical_query(target.substr(std::min(mark + 1, target.size()))), canonical,
                  names, heads.at("x-amz-content-sha256"));
  const auto text =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", scope.time, scope.text(), sha256_hex(request));
  auto key = hmac(fmt::format("AWS4{}", secret), scope.time.substr(0, 8));
  for (const std::string_view part :
       {std::string_view{scope.region}, std::string_view{scope.service},
        std::string_view{"aws4_request"}})
    key = hmac(key, part);
  std::string hex;
  for (const char each : hmac(key, text))
    hex += fmt::format("{:02x}", static_cast<unsigned char>(each));
  return hex;
}

/// Why the request is not signed by this key; empty: it is. The head is that of the request.
inline std::string fault_in_signature(std::string_view method, std::string_view target,
                                      std::string_view head, std::string_view body,
                                      const std::string& access, const std::string& secret,
                                      const std::string& region) {
  auto heads = heads_of(head);
  for (const auto* name : {"authorization", "host", "x-amz-date", "x-amz-content-sha256"})
    if (!heads.contains(name)) return fmt::format("there is no {}", name);
  if (heads["x-amz-content-sha256"] != sha256_hex(body)) return "the body has another digest";
  std::map<std::string, std::string> parts;
  std::string_view given = heads["authorization"];
  constexpr std::string_view kScheme = "AWS4-HMAC-SHA256 ";
  if (!given.starts_with(kScheme)) return "the scheme is another one";
  for (auto part : split(given.substr(kScheme.size()), ',')) {
    part = trimmed(part);
    const auto equals = std::min(part.find('='), part.size());
    parts[std::string{part.substr(0, equals)}] =
        std::string{part.substr(std::min(equals + 1, part.size()))};
  }
  const SigningScope scope{.time = heads["x-amz-date"], .region = region};
  if (parts["Credential"] != access + "/" + scope.text())
    return "the credential is " + parts["Credential"];
  std::vector<std::string> names;
  for (const auto name : split(parts["SignedHeaders"], ';')) names.emplace_back(name);
  if (!std::ranges::is_sorted(names)) return "the names are not sorted";
  for (const auto& [name, value] : heads) {
    const bool must = name == "host" || name.starts_with("x-amz-") || name == "if-none-match";
    if (must && std::ranges::find(names, name) == names.end()) return name + " is not signed";
  }
  for (const auto& name : names)
    if (!heads.contains(name)) return name + " was signed and not sent";
  const bool fits = sigv4(method, target, heads, names, secret, scope) == parts["Signature"];
  return fits ? std::string{} : "the signature is another one";
}

}  // namespace cupel::test
