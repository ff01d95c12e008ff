#pragma once
// A time-stamping authority: OpenSSL's own (openssl ts). It shares no code with the client under
// test; who puts it behind HTTP is replay_server.h.
#include <filesystem>
#include <string>

namespace cupel::test {

/// The keys and certificates of one TSA and of the authority that signed it, in a folder.
class TsaKeys {
 public:
  explicit TsaKeys(std::filesystem::path folder);
  std::string ca_file() const { return (folder_ / "ca.pem").string(); }
  std::string ca() const;  // PEM
  /// What it answers to a TimeStampReq. `digest`: over which it signs; `takes`: what requests may
  /// have.
  std::string reply(const std::string& request, const std::string& digest = "sha256",
                    const std::string& takes = "sha256") const;
  /// The stamp of `answer`, signed by the same key with a certificate for another purpose.
  /// OpenSSL's authority would not.
  std::string signed_again(const std::string& answer, const std::string& purpose) const;

  static constexpr const char* kForTimeStamps =
      "keyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n";

 private:
  void certify(const char* name, const std::string& purpose) const;
  std::string at(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

/// What `openssl ts` printed of a request or an answer.
std::string text_of_request(const std::filesystem::path& folder, const std::string& request);

}  // namespace cupel::test
