// How a BMC that fetches its images gets them.
#include "orchestrator/firmware/transfer.h"

#include <gmock/gmock.h>

namespace cupel::firmware {
namespace {

using ::testing::HasSubstr;

inventory::ImageTrust trust_of(bool only_http) {
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"10.0.0.1", 8080};
  trust.only_http = only_http;
  return trust;
}

TEST(TransferOfImages, IsOverHttpOnlyWhereTheBmcHasNoHttpsOrTheSiteSaysSo) {
  const auto site = trust_of(false), plain_site = trust_of(true);

  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"HTTP", "HTTPS"}, {"FTP", "https"}, {}})
    EXPECT_EQ(transfer_for(site, words), Transfer::https);
  EXPECT_EQ(transfer_for(site, {"HTTP", "FTP"}), Transfer::http);
  EXPECT_EQ(transfer_for(plain_site, {"HTTP", "HTTPS"}), Transfer::http);
  EXPECT_EQ(transfer_for(plain_site, {}), Transfer::http);
  for (const auto& refused :
       {transfer_for(site, {"TFTP", "SFTP"}), transfer_for(plain_site, {"HTTPS"})}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnsupported);
  }
}

TEST(TransferOfImages, IsSaidWithWhyItIsNotEncrypted) {
  EXPECT_EQ(transfer_text(trust_of(false), {"HTTPS"}), "over HTTPS from 10.0.0.1:8080");
  EXPECT_EQ(transfer_text(trust_of(false), {"HTTP", "FTP"}),
            "over HTTP from 10.0.0.1:8080, not encrypted: this BMC fetches by HTTP, FTP");
  EXPECT_THAT(transfer_text(trust_of(true), {"HTTPS", "HTTP"}),
              HasSubstr("the inventory says serve: http://"));
  EXPECT_THAT(transfer_text(trust_of(false), {"SCP"}), HasSubstr("refused: this BMC fetches"));
}

}  // namespace
}  // namespace cupel::firmware
