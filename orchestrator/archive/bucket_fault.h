#pragma once
// What a server of S3 says where it refuses a request, and what a person does about it. Pure.
// Source: Amazon S3 API Reference, "Error responses".
#include <string>
#include <string_view>

namespace cupel::archive {

struct BucketFault {
  std::string code{};     // "NoSuchBucket"
  std::string message{};  // printable, of a few hundred bytes at most
  std::string region{};   // that the bucket is in, where the server says so
};

/// Of an answer's body. Empty fields: it is no such document, or says nothing of it. The document
/// may be cut off: what came before is read.
BucketFault parse_bucket_fault(std::string_view xml);

/// Whether the same request may be taken a moment later. `status`: of HTTP.
bool may_pass(int status, const BucketFault& fault);

/// What a person does about it: words behind "; ". Never empty.
std::string advice_on(int status, const BucketFault& fault);

}  // namespace cupel::archive
