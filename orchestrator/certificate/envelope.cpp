#include "orchestrator/certificate/envelope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/signature.h"
#include "base/text.h"
#include "orchestrator/certificate/unique_keys.h"

namespace cupel::certificate {
namespace {

constexpr std::size_t kBlock = 256;  // bytes of payload that one digest is of
constexpr std::size_t kDigits = 16;  // of each digest: it proves nothing
constexpr std::size_t kMostSignatures = 16;

/// What is signed. Source: DSSE protocol, "PAE".
std::string to_be_signed(std::string_view payload) {
  return fmt::format("DSSEv1 {} {} {} {}", kPayloadType.size(), kPayloadType, payload.size(),
                     payload);
}

std::string block_digests(std::string_view payload) {
  std::string digests;
  for (std::size_t at = 0; at < payload.size(); at += kBlock)
    digests += sha256_hex(payload.substr(at, kBlock)).substr(0, kDigits);
  return digests;
}

/// "line 17: "verdict": "pass"": the first line that the block at `at` touches.
std::string line_at(std::string_view payload, std::size_t at) {
  const auto before = payload.substr(0, std::min(at, payload.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto feed = before.rfind('\n');
  const auto begin = feed == before.npos ? 0 : feed + 1;
  const auto text = payload.substr(begin, payload.find('\n', begin) - begin);
  return fmt::format("line {}: {}", line, printable(trimmed(text.substr(0, 120))));
}

/// What was changed, by digests that nobody signed: a hint for people. Empty where it has none.
std::string changed_place(std::string_view payload, const json::value& envelope) {
  const auto reported = text_at(envelope, "blocks");
  if (!reported) return {};
  const auto digests = block_digests(payload);
  const auto [mine, theirs] = std::ranges::mismatch(digests, *reported);
  if (mine == digests.end() && theirs == reported->end())
    return "; its payload is as it was sealed, so the signature was changed";
  const auto block = static_cast<std::size_t>(mine - digests.begin()) / kDigits;
  const auto first = block * kBlock;
  return fmt::format("; the first change is in bytes {} to {} of its payload, at {}", first,
                     first + kBlock - 1, line_at(payload, first));
}

/// As it stands there, blanks included.
std::optional<std::string_view> exact_text(const json::value& object, std::string_view key) {
  const auto* value = find(object, key);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::nullopt : std::optional{std::string_view{*text}};
}

/// DSSE allows both alphabets of RFC 4648. Only the one way of writing these bytes in it is taken:
/// whole padding, no blanks, no bits left over.
std::optional<std::string> strict_base64(std::string_view text) {
  std::string usual{text};
  if (text.find_first_of("+/") == text.npos) {
    std::ranges::replace(usual, '-', '+');
    std::ranges::replace(usual, '_', '/');
  }
  auto bytes = from_base64(usual);
  return bytes && base64(*bytes) == usual ? std::move(bytes) : std::nullopt;
}

Result<std::string> payload_of(const json::value& envelope) {
  const auto type = exact_text(envelope, "payloadType");
  const auto encoded = exact_text(envelope, "payload");
  if (!type || !encoded)
    return Error{Code::kMalformed,
                 "no certificate: a DSSE envelope has \"payloadType\" and \"payload\""};
  if (*type != kPayloadType)
    return Error{Code::kMalformed, fmt::format("an envelope of \"{}\"; a certificate is \"{}\"",
                                               printable(type->substr(0, 80)), kPayloadType)};
  auto payload = strict_base64(*encoded);
  if (!payload)
    return Error{Code::kMalformed, "the envelope's payload is no base64 with whole padding"};
  return *std::move(payload);
}

}  // namespace

Result<std::string> key_id(std::string_view of) {
  TRY(const auto public_key, public_key_pem(of));
  constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
  constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";
  const auto begin = public_key.find(kBegin);
  const auto end = public_key.find(kEnd);
  if (begin == public_key.npos || end == public_key.npos || end < begin)
    return Error{Code::kInvalid, "no PEM public key: openssl pkey -in site.key -pubout"};
  std::string body{public_key.substr(begin + kBegin.size(), end - begin - kBegin.size())};
  std::erase_if(body, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  const auto bytes = from_base64(body);
  if (!bytes) return Error{Code::kInvalid, "the PEM of the public key is no base64"};
  return sha256_hex(*bytes);
}

Result<std::string> seal(std::string_view payload, const SigningKey& key) {
  TRY(const auto id, key_id(key.public_key()));
  TRY(const auto signature, key.sign(to_be_signed(payload)));
  return json::serialize(json::object{
             {"payloadType", kPayloadType},
             {"payload", base64(payload)},
             {"signatures", json::array{json::object{{"keyid", id}, {"sig", base64(signature)}}}},
             {"blocks", block_digests(payload)}}) +
         "\n";
}

Result<Opened> open(std::string_view envelope, std::span<const std::string> public_keys) {
  TRY(const auto value, parse_unique(envelope));
  TRY(auto payload, payload_of(value));
  const auto* signatures = find(value, "signatures");
  if (signatures == nullptr || !signatures->is_array() || signatures->get_array().empty())
    return Error{Code::kUntrusted, "the certificate is not signed"};
  if (signatures->get_array().size() > kMostSignatures)
    return Error{Code::kMalformed, fmt::format("over {} signatures", kMostSignatures)};
  const auto bytes = to_be_signed(payload);
  std::string named;
  bool names_ours = false;
  for (const auto& public_key : public_keys) {
    TRY(const auto id, key_id(public_key));
    for (const auto& each : signatures->get_array()) {
      const auto signature = strict_base64(exact_text(each, "sig").value_or(""));
      const auto by = text_at(each, "keyid").value_or("");
      named = by.empty() ? named : by;
      names_ours = names_ours || by == id;
      if (!signature) continue;
      const auto verified = verify_signature(bytes, *signature, public_key);
      if (verified) return Opened{std::move(payload), id};
      if (verified.error().code == Code::kInvalid) return verified.error();
    }
  }
  if (!names_ours)
    return Error{Code::kUntrusted,
                 fmt::format("signed by another key: it names {}",
                             named.empty() ? "none" : printable(named.substr(0, 64)))};
  return Error{Code::kUntrusted, "it is not what was signed" + changed_place(payload, value)};
}

}  // namespace cupel::certificate
