#include "orchestrator/archive/bucket_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <pugixml.hpp>

#include "base/text.h"

namespace cupel::archive {
namespace {

constexpr std::size_t kLongestWord = 64, kLongestMessage = 300;

struct Advice {
  std::string_view code;
  std::string_view words;
};

constexpr auto kAdvice = std::to_array<Advice>({
    {"NoSuchBucket", "make the bucket, or name another one with --bucket"},
    {"InvalidAccessKeyId", "the server does not know the access key in --key"},
    {"SignatureDoesNotMatch", "the secret key in --key is not that of its access key"},
    {"InvalidToken", "the session token in --key is not that of its access key"},
    {"ExpiredToken", "write a new session token into the file of --key"},
    {"RequestTimeTooSkewed",
     "the clock of this machine and that of the server differ by more than 15 minutes: see "
     "timedatectl"},
    {"AuthorizationHeaderMalformed", "name the bucket's region with --region"},
    {"PermanentRedirect", "name the bucket's region with --region, and its --endpoint"},
    {"TemporaryRedirect", "name the bucket's region with --region, and its --endpoint"},
    {"IllegalLocationConstraintException", "name the bucket's region with --region"},
    {"NotImplemented",
     "the server lacks what keeps objects from being overwritten (If-None-Match), or object lock"},
    {"InvalidRequest", "with --retain the bucket needs object lock, which it is made with"},
    {"ObjectLockConfigurationNotFoundError",
     "with --retain the bucket needs object lock, which it is made with"},
    {"SlowDown", "the server asks for fewer requests: try again later"},
});

std::string_view by_status(int status) {
  if (status == 301 || status == 307)
    return "name the bucket's region with --region, and its --endpoint";
  if (status == 401 || status == 403)
    return "the key needs s3:ListBucket, s3:GetObject and s3:PutObject, with --retain also "
           "s3:PutObjectRetention and s3:GetObjectRetention";
  if (status >= 500 || status == 429) return "try again later";
  return "see whether --endpoint is that of a server of S3";
}

std::string text_of(const pugi::xml_node& above, const char* name, std::size_t limit) {
  return shortened(printable(valid_utf8(above.child_value(name))), limit);
}

}  // namespace

BucketFault parse_bucket_fault(std::string_view xml) {
  pugi::xml_document document;
  // A document that is cut off is a fault too: what was read up to there stands in the tree.
  (void)document.load_buffer(xml.data(), xml.size());
  const auto error = document.child("Error");
  BucketFault fault{.code = text_of(error, "Code", kLongestWord),
                    .message = text_of(error, "Message", kLongestMessage),
                    .region = text_of(error, "Region", kLongestWord)};
  while (fault.message.ends_with('.')) fault.message.pop_back();  // advice follows
  return fault;
}

bool may_pass(int status, const BucketFault& fault) {
  constexpr auto kCodes = std::to_array<std::string_view>(
      {"SlowDown", "RequestTimeout", "OperationAborted", "ConditionalRequestConflict",
       "InternalError", "ServiceUnavailable"});
  const bool by_status =
      status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
  return by_status || std::ranges::find(kCodes, fault.code) != kCodes.end();
}

std::string advice_on(int status, const BucketFault& fault) {
  const auto row = std::ranges::find(kAdvice, fault.code, &Advice::code);
  const auto words = row == kAdvice.end() ? by_status(status) : row->words;
  if (fault.region.empty() || !words.contains("--region")) return std::string{words};
  return fmt::format("{} (the bucket is in {})", words, fault.region);
}

}  // namespace cupel::archive
