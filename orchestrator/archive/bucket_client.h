#pragma once
// A bucket of S3, or of a server that speaks its REST API. Objects are made, looked at and read;
// none is overwritten or removed. Requests are signed by libcurl (AWS Signature Version 4). TLS is
// always verified; redirects are not followed: a signature is for one host.
// Sources: Amazon S3 API Reference, "PutObject", "HeadObject", "GetObject", "ListObjectsV2"; AWS,
// "Signature Version 4 for API requests".
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "inventory/secret_ref.h"

namespace cupel::archive {

struct Bucket {
  std::string endpoint{};  // "https://s3.example.com:9000": a scheme, a host, perhaps a port
  std::string name{};
  std::string region = "us-east-1";
  bool in_host = false;        // https://NAME.HOST/KEY; else https://HOST/NAME/KEY
  std::string ca{};            // PEM file; empty: the system's authorities
  inventory::SecretRef key{};  // ACCESS:SECRET, or ACCESS:SECRET:SESSION_TOKEN

  /// "bucket evidence at https://s3.example.com:9000"
  std::string who() const { return "bucket " + name + " at " + endpoint; }
};

/// Where an object lies. `key` has unreserved characters (RFC 3986, 2.3) and slashes alone.
std::string url_of(const Bucket& bucket, std::string_view key);

/// How long an object can be neither changed nor removed. Source: Amazon S3 User Guide, "Locking
/// objects with Object Lock".
struct Retention {
  std::string mode{};   // "GOVERNANCE" or "COMPLIANCE"
  std::string until{};  // UTC: "2027-12-01T00:00:00Z"
};

/// Bytes in memory or, where it is named, in a file of ours.
struct ObjectBody {
  std::string bytes{};
  std::filesystem::path file{};
};

struct NewObject {
  std::string key{};
  std::string sha256{};
  /// Of "x-amz-meta-NAME"; names that none of the others begins with.
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::function<Result<ObjectBody>()> load{};  // asked where the bytes are needed
};

/// What the server says of an object. Texts are printable.
struct StoredObject {
  std::string sha256{};  // that the server has computed; else as the object was made with; or empty
  std::string last{}, chain_head{};  // metadata of pieces of the audit log
  std::optional<Retention> retention{};
};

struct ObjectDigest {
  std::string sha256{};
  std::uint64_t bytes = 0;
};

struct BucketLimits {
  int tries = 6;
  std::chrono::milliseconds first_pause{500};  // before the second try; each next one is twice that
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::seconds stall{60};  // without a byte
};

/// All of these try again, with pauses, where the server asks for fewer requests or the connection
/// breaks: the last try's error counts. Cancel-safe: what was under way may have been made. Errors:
/// kUnreachable, kTimeout, kUntrusted (the certificate), kInvalid (the key, the region), kRefused,
/// kBusy, kNotFound (no such bucket), kUnsupported, kMalformed, kFailed; those of the key's secret.
/// Must go before the io_context that it was used on.
class BucketClient {
 public:
  explicit BucketClient(Bucket bucket, BucketLimits limits = {});
  ~BucketClient();

  /// That the bucket is there and the key may list it.
  Task<Result<void>> reach(Deadline deadline);
  /// Nothing: there is none of that name.
  Task<Result<std::optional<StoredObject>>> look(std::string key, Deadline deadline);
  /// Errors, too: kConflict: there is an object of that name already.
  Task<Result<void>> put(NewObject object, std::optional<Retention> retention, Deadline deadline);
  /// Reads it piece by piece. Nothing: there is none of that name.
  Task<Result<std::optional<ObjectDigest>>> digest(std::string key, Deadline deadline);

  const Bucket& bucket() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::archive
