#pragma once
// A bucket of S3 in memory, behind a ReplayServer: it verifies signatures and digests, makes an
// object once, and answers errors in the documents of the S3 API Reference. Shares no code with the
// client under test.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "tests/support/replay_server.h"
#include "tests/support/sigv4.h"

namespace cupel::test {

inline ReplayAnswer s3_error(int status, std::string_view code, std::string_view message,
                             std::string more = {}) {
  return {.status = status,
          .body = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{}</Code>"
                              "<Message>{}</Message>{}<RequestId>4442587FB7D0A2F9</RequestId>"
                              "</Error>",
                              code, message, more),
          .content_type = "application/xml"};
}

class FakeBucket {
 public:
  struct Object {
    std::string body{};
    Heads heads{};  // that it was made with
  };
  using Habit = std::function<std::optional<ReplayAnswer>(const ReplayRequest&)>;

  ReplayAnswer operator()(const ReplayRequest& asked) {
    if (habit)
      if (auto answer = habit(asked)) return *std::move(answer);
    auto fault = fault_in_signature(asked.method, asked.path, asked.head, asked.body, access,
                                    secret, region);
    if (!fault.empty()) {
      faults.push_back(asked.method + " " + asked.path + ": " + fault);
      return s3_error(403, "SignatureDoesNotMatch", "The request signature we calculated differs.");
    }
    const auto mark = asked.path.find('?');
    const auto path = asked.path.substr(0, mark);
    const auto root = in_host ? std::string{"/"} : "/" + name + "/";
    if (!path.starts_with(root))
      return s3_error(404, "NoSuchBucket", "The specified bucket does not exist");
    const auto key = path.substr(root.size());
    if (key.empty())
      return {.body =
                  "<?xml version=\"1.0\"?><ListBucketResult><KeyCount>0</KeyCount>"
                  "</ListBucketResult>",
              .content_type = "application/xml"};
    return asked.method == "PUT" ? made(key, asked) : read(key);
  }

  std::string name = "evidence", access = "AKIDEXAMPLE", secret = "s3cr3t/Key+Example",
              region = "eu-test-1";
  bool in_host = false, has_lock = true, shows_checksums = true;
  std::string retains_until{};  // in place of what it was asked for
  Habit habit{};
  std::map<std::string, Object> objects{};
  std::vector<std::string> faults{};  // of signatures

 private:
  ReplayAnswer made(const std::string& key, const ReplayRequest& asked) {
    auto heads = heads_of(asked.head);
    if (heads["if-none-match"] == "*" && objects.contains(key))
      return s3_error(412, "PreconditionFailed", "At least one of the preconditions did not hold");
    const auto digest = from_base64(heads["x-amz-checksum-sha256"]).value_or("");
    std::string hex;
    for (const char each : digest) hex += fmt::format("{:02x}", static_cast<unsigned char>(each));
    if (hex != sha256_hex(asked.body))
      return s3_error(400, "BadDigest", "The SHA256 did not match");
    const bool locks = heads.contains("x-amz-object-lock-mode");
    if (locks && !has_lock)
      return s3_error(400, "InvalidRequest", "Bucket is missing Object Lock Configuration");
    if (locks && !retains_until.empty())
      heads["x-amz-object-lock-retain-until-date"] = retains_until;
    objects[key] = {asked.body, std::move(heads)};
    return {.content_type = "application/xml"};
  }

  ReplayAnswer read(const std::string& key) const {
    const auto found = objects.find(key);
    if (found == objects.end())
      return s3_error(404, "NoSuchKey", "The specified key does not exist.");
    ReplayAnswer answer{.body = found->second.body, .content_type = "application/octet-stream"};
    for (const auto& [name, value] : found->second.heads) {
      const bool kept = name.starts_with("x-amz-meta-") || name.starts_with("x-amz-object-lock-") ||
                        (shows_checksums && name == "x-amz-checksum-sha256");
      if (kept) answer.lines += name + ": " + value + "\r\n";
    }
    return answer;
  }
};

}  // namespace cupel::test
