// Which passwords and tokens of the site are taken out of what leaves it.
#include "orchestrator/controller/site_secrets.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "inventory/model.h"
#include "inventory/secret_ref.h"

namespace cupel::controller {
namespace {

using inventory::SecretRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SiteSecrets : public ::testing::Test {
 protected:
  SiteSecrets() {
    ::setenv("CUPEL_TEST_BMC", "hunter2", 1);
    ::setenv("CUPEL_TEST_FACTORY", "hunter2-factory", 1);
    ::setenv("CUPEL_TEST_TOKEN", "scheduler", 1);
    for (const auto* name : {"n1", "n2"}) {
      auto& node = site.nodes.emplace_back();
      node.name = name;
      node.bmc.password = ref("CUPEL_TEST_BMC");
    }
    site.nodes[0].bmc.factory = {"root", ref("CUPEL_TEST_FACTORY")};
    site.kubernetes.emplace().token = ref("CUPEL_TEST_TOKEN");
  }
  ~SiteSecrets() override {
    for (const auto* name : {"CUPEL_TEST_BMC", "CUPEL_TEST_FACTORY", "CUPEL_TEST_TOKEN"})
      ::unsetenv(name);
  }
  static SecretRef ref(const char* variable) { return {SecretRef::Kind::env, variable}; }

  inventory::Inventory site{};
};

TEST_F(SiteSecrets, AreThoseAroundTheNodeTheLongestFirst) {
  EXPECT_THAT(site_secrets(site, "n1").values,
              ElementsAre("hunter2-factory", "scheduler", "hunter2"));
  EXPECT_THAT(site_secrets(site, "n2").values, ElementsAre("scheduler", "hunter2"));
  EXPECT_THAT(site_secrets(site, "n3").values, ElementsAre("scheduler"));
}

TEST_F(SiteSecrets, AreWithoutThoseThatCannotBeFetchedWhichAreNamed) {
  ::unsetenv("CUPEL_TEST_BMC");
  ::unsetenv("CUPEL_TEST_TOKEN");

  const auto secrets = site_secrets(site, "n1");

  EXPECT_THAT(secrets.values, ElementsAre("hunter2-factory"));
  EXPECT_THAT(secrets.unread, ElementsAre(HasSubstr("CUPEL_TEST_BMC is not set"),
                                          HasSubstr("CUPEL_TEST_TOKEN is not set")));
}

}  // namespace
}  // namespace cupel::controller
