// The steps that boot a machine over the network, driven by the engine, whose controller dies at
// every write; and what is reported of machines that boot otherwise than asked.
#include "tests/orchestrator/os_step.h"

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/os/installed.h"
#include "orchestrator/os/seed.h"
#include "orchestrator/ssh/public_key.h"

namespace cupel::steps {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(OsStep, WritesTheImageAndPinsTheHostKeyThatTheNewSystemReports) {
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "debian-12 is on disk DISK1, and up, booted by http");
  EXPECT_EQ(machine_.images_written, 1);
  EXPECT_EQ(store_->pinned("ssh:n1"), test::kNewPrint);
  EXPECT_TRUE(machine_.open.empty()) << "the ticket ends with the step";
}

TEST_F(OsStep, TheTicketIsInNoEvent) {
  ASSERT_TRUE(control());

  ASSERT_EQ(machine_.tickets.size(), 1u);
  EXPECT_THAT(needed(), HasSubstr("handle"));
  EXPECT_THAT(needed(), Not(HasSubstr(machine_.tickets[0])));
  EXPECT_THAT(needed(), Not(HasSubstr("http://")));
}

TEST_F(OsStep, BootsNothingWhereAPersonPinnedTheHostKey) {
  ASSERT_TRUE(store_->repin("ssh:n1", "SHA256:of a person"));

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("cupel exec n1 --forget-host-key"));
  EXPECT_EQ(machine_.boots, 0);
  EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:of a person");
}

TEST_F(OsStep, WritesNothingWhereTheWantedImageRunsAlready) {
  store_->pin("ssh:n1", "SHA256:before");
  machine_.does = test::BootMachine::Does::old_system;
  machine_.old_system_image = {digest_};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done);
  EXPECT_EQ(end_.detail, "debian-12 runs already");
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(OsStep, WritesItAgainWhereThePlaybookSaysReinstall) {
  store_->pin("ssh:n1", "SHA256:before");
  machine_.does = test::BootMachine::Does::old_system;
  machine_.old_system_image = {digest_};
  set_step(StepKind::os, "os", {{"reinstall", "yes"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsStep, GoesOnByVirtualMediaWhereTheBmcTakesNoUri) {
  machine_.has_http_uri = false;
  set_step(StepKind::os, "os", {{"ways", "http, media"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("booted by media"));
  EXPECT_EQ(machine_.disc, "");
  EXPECT_EQ(machine_.ejected, 1);
}

TEST_F(OsStep, BootsByPxeAMachineThatIsFoundByItsMac) {
  set_step(StepKind::boot_ram, "boot-ram", {{"ways", "pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("booted by pxe"));
}

TEST_F(OsStep, BootsByUefiHttpAMachineThatIsFoundByItsMac) {
  set_step(StepKind::os, "os", {{"ways", "dhcp-http"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("booted by dhcp-http"));
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsStep, AWayByDhcpNeedsAMacOfTheInventory) {
  node_.boot.macs.clear();
  set_step(StepKind::os, "os", {{"ways", "dhcp-http, pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("pxe: the inventory has no MAC address of it (boot: macs)"));
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(OsStep, TakesBackAnOverrideThatStayed) {
  machine_.keeps_override = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("its BMC kept boot target http after the boot"));
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, SetsTheBmcOfAMachineThatABiosStartedToBootItsDiskOnce) {
  machine_.by_bios = true;
  machine_.image_has_bios_loader = true;
  set_step(StepKind::os, "os", {{"ways", "pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("it was started by a BIOS and has no boot entry"));
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, TakesBackTheDiskAsBootDeviceThatABmcKept) {
  machine_.by_bios = true;
  machine_.image_has_bios_loader = true;
  machine_.keeps_override = true;
  set_step(StepKind::os, "os", {{"ways", "pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("its BMC kept boot target disk after the boot"));
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, ABiosWhoseBmcCannotBootTheDiskIsSaidWhereItBootsTheNetworkAgain) {
  machine_.by_bios = true;
  machine_.image_has_bios_loader = true;
  machine_.cannot_boot_disk = true;
  set_step(StepKind::os, "os", {{"ways", "pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed) << end_.detail;
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("booted into the RAM system again"),
                                 HasSubstr("its BMC cannot be set to boot the disk")));
}

TEST_F(OsStep, AMachineThatABiosStartedNeedsAnImageThatABiosStarts) {
  machine_.by_bios = true;
  set_step(StepKind::os, "os", {{"ways", "pxe"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("the machine was not started by UEFI"));
  EXPECT_EQ(machine_.images_written, 0);
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, NamesTheBootEntriesThatWereRemoved) {
  machine_.removes = {"Boot0003 debian", "Boot0004 \x1b[31mCupel OS"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("removed from its NVRAM: Boot0003 debian, Boot0004 "),
                                 ::testing::Not(HasSubstr("\x1b"))));
}

TEST_F(OsStep, NamesEightRemovedBootEntriesAndCountsTheOthers) {
  for (int i = 0; i < 64; ++i) machine_.removes.emplace_back(std::string(1'000, 'x'));

  ASSERT_TRUE(control());

  EXPECT_THAT(end_.detail, HasSubstr(" and 56 more"));
  EXPECT_LT(end_.detail.size(), 1'000u);
}

TEST_F(OsStep, SaysThatTheMirrorFailed) {
  machine_.mirror_failure = "http://10.1.0.2/images/debian-12/disk.raw.zst: curl: \x1b[31m 404";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("its mirror failed, and the image came from the boot "
                                           "server: http://10.1.0.2/images/"),
                                 ::testing::Not(HasSubstr("\x1b"))));
}

TEST_F(OsStep, KeepsTheTpmsKeyAndNamesAnotherOneOfALaterBoot) {
  const std::string first(64, 'a'), second(64, 'b');
  machine_.tpm_ek = first;
  ASSERT_TRUE(control());
  EXPECT_THAT(end_.detail, ::testing::Not(HasSubstr("identity mismatch")));
  EXPECT_THAT(needed(), HasSubstr("\"tpm_ek\":\"" + first + "\""));

  machine_ = {};
  machine_.tpm_ek = second;
  journal_ = {};
  set_step(StepKind::os, "os", {{"reinstall", "yes"}});
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("identity mismatch: its TPM's endorsement certificate"),
                                 HasSubstr(second + ", and had " + first)));
  EXPECT_EQ(store_->pinned("tpm:n1"), second);
}

TEST_F(OsStep, WhatIsNoDigestOfATpmIsNotKept) {
  machine_.tpm_ek = "\x1b[31m";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_FALSE(store_->pinned("tpm:n1"));
}

TEST_F(OsStep, NamesEachWayThatLedNowhereWhereTheBmcIgnoresTheOverride) {
  machine_.ignores_override = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("http: nothing was fetched"),
                                 HasSubstr("media: nothing was fetched")));
  EXPECT_EQ(machine_.disc, "");
  EXPECT_EQ(machine_.images_written, 0);
}

TEST_F(OsStep, AMachineThatBootsItsOldSystemIsNamedAsThat) {
  store_->pin("ssh:n1", "SHA256:before");
  machine_.does = test::BootMachine::Does::old_system;
  machine_.old_system_image = {"another"};
  machine_.boots_old_system = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("it booted its old system"));
  EXPECT_THAT(needed(), HasSubstr("cupel bmc n1 boot"));
}

TEST_F(OsStep, AMachineThatBootsTheNetworkAgainIsNamedAsThat) {
  machine_.boots_network_again = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("it booted into the RAM system again"));
  EXPECT_THAT(needed(), HasSubstr("cupel bmc n1 boot"));
}

TEST_F(OsStep, ANodeThatIsCalledNodeIsNamedInItsAdvice) {
  node_.name = "NODE-1";
  machine_.boots_network_again = true;

  ASSERT_TRUE(control());

  EXPECT_THAT(needed(), HasSubstr("cupel bmc NODE-1 boot"));
}

TEST_F(OsStep, AnotherMachineInItsSlotIsNamedAndNothingIsWritten) {
  machine_.refused_with = "its serial is that of n2";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, AllOf(HasSubstr("not the one of the inventory"),
                                 HasSubstr("its serial is that of n2")));
  EXPECT_EQ(machine_.images_written, 0);
}

TEST_F(OsStep, AMachineOfAnotherArchitectureIsNamedAndNothingIsWritten) {
  machine_.refusal = "wrong-arch";
  machine_.refused_with = "n1: the machine is aarch64, the order is for x86_64";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.detail,
            "the machine is of another architecture: n1: the machine is aarch64, the order is for "
            "x86_64");
  EXPECT_THAT(needed(), HasSubstr("a RAM system and an image for its architecture"));
  EXPECT_EQ(machine_.images_written, 0);
}

TEST_F(OsStep, AnImageOfAnotherArchitectureThanItsRamSystemIsRefusedBeforeAnythingBoots) {
  machine_.image_arch = "aarch64";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("image debian-12 is for aarch64, and RAM system "));
  EXPECT_TRUE(machine_.tickets.empty());
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(OsStep, ACertificateOfTheBootServerThatHasExpiredIsNamedBeforeAnythingBoots) {
  no_server_ = Error{Code::kInvalid,
                     "boot: tls: certificate: site.pem: expired on 2026-01-01: machines reject it. "
                     "Renew it"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("site.pem: expired on 2026-01-01"));
  EXPECT_EQ(machine_.boots, 0);
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, ACertificateThatExpiresDuringTheBootIsItsCauseAndNoOtherWayIsTried) {
  machine_.ignores_override = true;
  machine_.certificate_expires = "boot: tls: certificate: site.pem: expired on 2026-01-01";
  set_step(StepKind::os, "os", {{"ways", "http, media"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.detail,
            "it did not boot the RAM system: http: nothing was fetched; boot: tls: certificate: "
            "site.pem: expired on 2026-01-01");
  EXPECT_THAT(needed(), HasSubstr("renew the certificate of boot: tls"));
  EXPECT_EQ(machine_.boots, 1);
  EXPECT_EQ(machine_.boot.target, bmc::BootTarget::none);
}

TEST_F(OsStep, AMachineThatGoesSilentAfterTheCertificateHasExpiredIsNotBootedAgain) {
  machine_.power_cut_while_writing = 1;
  machine_.certificate_expires = "boot: tls: certificate: site.pem: expired on 2026-01-01";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.detail, "boot: tls: certificate: site.pem: expired on 2026-01-01");
  EXPECT_EQ(machine_.boots, 1);
}

TEST_F(OsStep, ASystemThatReportsAfterItsTicketHasEndedIsNamedAsThat) {
  machine_.home_refused_with = "n1: the boot ticket's 21600 s are over";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("the boot server refused its report: n1: the boot ticket's"));
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsStep, SaysWhatTheNodeFailedOfAndWhatToDo) {
  machine_.fails_with = "disk-not-empty";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.detail, "the disk holds something: as the node says");
  EXPECT_THAT(needed(), HasSubstr("wipe: yes"));
  EXPECT_TRUE(machine_.open.empty());
}

TEST_F(OsStep, SaysHowToLogInWhereTheNodeFailedOfSomethingElse) {
  machine_.fails_with = "erase";

  ASSERT_TRUE(control());

  EXPECT_THAT(needed(),
              HasSubstr("ssh -i " + node_.ssh.key_file + " root@" + machine_.address + "\""));
}

TEST_F(OsStep, ASystemOfAnotherImageIsNotTaken) {
  machine_.other_image = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("and not from debian-12"));
}

TEST_F(OsStep, AnImageWithAnotherDigestThanThePinnedOneIsNeverServed) {
  set_step(StepKind::os, "os", {{"sha256", std::string(64, 'e')}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("nothing was written"));
  EXPECT_TRUE(machine_.tickets.empty());
}

TEST_F(OsStep, WritesNoDiskThatNobodyNamed) {
  node_.boot.disk.clear();

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("nothing says which disk is written"));
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(OsStep, TheRamSystemStaysUpAndIsPinned) {
  set_step(StepKind::boot_ram, "boot-ram");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "RAM system ram is up, booted by http");
  EXPECT_EQ(store_->pinned("ssh:n1"), test::kNewPrint);
  EXPECT_EQ(machine_.images_written, 0);
}

TEST_F(OsStep, ARamSystemThatDoesNotHaveTheKeysYetIsAskedAgain) {
  machine_.logins_too_early = 1;
  set_step(StepKind::boot_ram, "boot-ram");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
}

TEST_F(OsStep, ARamSystemWithALargeRootIsUpWhenItRunsInThat) {
  machine_.has_large_root = true;
  set_step(StepKind::boot_ram, "boot-ram");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(looks_, 2);
}

TEST_F(OsStep, TheRamSystemLeavesNoDiscInItsDrive) {
  set_step(StepKind::boot_ram, "boot-ram", {{"ways", "media"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.disc, "");
  EXPECT_EQ(machine_.ejected, 1);
}

TEST_F(OsStep, BootsNothingForAnImageWithoutAPlaceForTheSeed) {
  machine_.image_has_no_seed = "its /etc/fstab mounts UUID=2 at /var";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail,
              AllOf(HasSubstr("image debian-12 has no place for a seed: its /etc/fstab "
                              "mounts UUID=2 at /var"),
                    HasSubstr("Nothing was booted")));
  EXPECT_EQ(machine_.boots, 0);
  EXPECT_EQ(machine_.images_written, 0);
}

class UnseededStep : public OsStep {
 protected:
  UnseededStep() { inventory_.profiles.at("p").os.seed = false; }
  const std::string ram_{test::kNewPrint};  // the key of its RAM system's hello
};

TEST_F(UnseededStep, PinsTheKeyOfTheSystemThatAnswersAndNotThatOfTheRamSystem) {
  host_keys_ = {ram_, "SHA256:new"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:new");
  EXPECT_THAT(end_.detail, HasSubstr("nothing proves that the image is what answers SSH"));
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(UnseededStep, NeedsNoPlaceForOne) {
  host_keys_ = {ram_, "SHA256:new"};
  machine_.image_has_no_seed = "its /etc/fstab mounts UUID=2 at /var";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(UnseededStep, ForgetsTheKeyOfTheSystemThatWasOnTheDisk) {
  store_->pin("ssh:n1", "SHA256:before");
  host_keys_ = {"SHA256:before", ram_, "SHA256:new"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:new");
  EXPECT_THAT(end_.detail, Not(HasSubstr("pinned before")));
}

TEST_F(UnseededStep, SaysThatTheKeyOfBeforeAnswers) {
  store_->pin("ssh:n1", "SHA256:before");
  host_keys_ = {"SHA256:before"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("answers with the host key that was pinned before"));
}

TEST_F(UnseededStep, TakesNoOtherKeyThanThatOfAPersonOrTheInventory) {
  host_keys_ = {"SHA256:of a stranger"};
  ASSERT_TRUE(store_->repin("ssh:n1", "SHA256:of a person"));

  ASSERT_TRUE(control());

  EXPECT_NE(end_.phase, Phase::done);
  EXPECT_EQ(machine_.images_written, 1);
  EXPECT_THAT(end_.detail, HasSubstr("no system that it booted from its disk answers SSH"));
  EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:of a person");
}

TEST_F(UnseededStep, ComparesTheKeyOfTheInventory) {
  node_.ssh.trust = {inventory::Trust::Kind::pinned, "SHA256:of the image"};
  host_keys_ = {ram_, "SHA256:of the image"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
}

TEST_F(UnseededStep, TellsANameThatNothingGaveIt) {
  host_keys_ = {"SHA256:new"};
  machine_.host_name = "localhost";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("it calls itself 'localhost', and nothing gave it"));
}

TEST_F(UnseededStep, IsNoneWithAnInstaller) {
  inventory_.profiles.at("p").os.image = "debian-12-installer";
  set_step(StepKind::os, "os", {{"ways", "http"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("os: seed: no of profile 'p' is for a disk's image"));
  EXPECT_EQ(machine_.boots, 0);
}

class InstallerStep : public OsStep {
 protected:
  InstallerStep() {
    inventory_.profiles.at("p").os.image = "debian-12-installer";
    set_step(StepKind::os, "os", {{"ways", "http"}});
  }
};

TEST_F(InstallerStep, InstallsByTheInstallerAndPinsTheHostKeyOfTheNewSystem) {
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "debian-12-installer is on disk DISK1, and up, booted by http");
  EXPECT_EQ(machine_.images_written, 1);
  EXPECT_EQ(store_->pinned("ssh:n1"), test::kNewPrint);
  EXPECT_TRUE(machine_.open.empty()) << "the ticket ends with the step";
}

TEST_F(InstallerStep, InstallsOnceHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died at write " << room);
    machine_ = {};
    journal_ = {};
    journal_.room = room;
    ASSERT_TRUE(store_->repin("ssh:n1", ""));
    EXPECT_FALSE(control());
    journal_.room = 1'000;
    ASSERT_TRUE(control());

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_LE(machine_.images_written, 1);
  }
}

TEST_F(InstallerStep, NamesAnInstallerThatNeverAskedForItsAnswers) {
  machine_.fetches_alone = {"ram.efi"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("http: it fetched the installer, which never asked for its "
                                     "answer file"));
}

TEST_F(InstallerStep, NamesAnInstallerWhoseAnswersFailed) {
  machine_.fetches_alone = {"ram.efi", "preseed.cfg"};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("fetched its answer file, and did not report"));
}

TEST_F(InstallerStep, NamesTheStepThatAnInstallerStandsStillIn) {
  machine_.stands_in = "bootstrap-base";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("its installer stands still in its step 'bootstrap-base'"));
  EXPECT_THAT(needed(), HasSubstr("cupel bmc n1 console"));
}

TEST_F(InstallerStep, SaysThatItsMirrorIsNotReached) {
  machine_.fails_with = "mirror";

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_EQ(end_.detail, "the installer does not reach its mirror: as the node says");
  EXPECT_THAT(needed(), HasSubstr("--mirror URL"));
}

TEST_F(InstallerStep, HasNoDiscForVirtualMedia) {
  set_step(StepKind::os, "os", {{"ways", "media"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("media: an installer's image has no disc"));
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(InstallerStep, DoesNotEraseADiskBefore) {
  set_step(StepKind::os, "os", {{"ways", "http"}, {"erase", "nvme"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("an installer does not erase a disk before"));
  EXPECT_EQ(machine_.boots, 0);
}

TEST(ReportedKeys, HaveTheFingerprintThatSshKeygenPrints) {
  EXPECT_EQ(ssh::fingerprint_of(test::kNewKey).value(), test::kNewPrint);
  EXPECT_FALSE(ssh::fingerprint_of("ssh-ed25519 AAAA"));
  EXPECT_FALSE(ssh::fingerprint_of("nonsense"));
}

TEST(InstalledSystem, IsReadFromItsNameAndItsFile) {
  const auto seen = os::read_installed("n1\n{\"image\":\"debian-12\",\"sha256\":\"ab\"}\n");

  EXPECT_EQ(seen.host_name, "n1");
  EXPECT_EQ(seen.image, "debian-12");
  EXPECT_EQ(seen.sha256, "ab");
  EXPECT_EQ(os::read_installed("n1\n").sha256, "");
  EXPECT_EQ(os::read_installed("n1\n{\"sha256\":").sha256, "");
}

TEST(Seed, NamesTheNodeItsNetworkByMacAndWhereItReports) {
  inventory::Node node;
  node.name = "n1";
  const auto seed = os::make_seed(
      {.node = &node,
       .image = "debian-12",
       .digest = "ab",
       .public_key = "ssh-ed25519 AAAA",
       .home_url = "http://10.0.0.1/home/x",
       .networks = {json::object{
           {"mac", "52:54:00:00:00:01"}, {"address", "10.0.2.11/24"}, {"gateway", "10.0.2.1"}}}});

  EXPECT_THAT(seed.at("meta-data"), HasSubstr("\"local-hostname\":\"n1\""));
  EXPECT_THAT(seed.at("user-data"), ::testing::StartsWith("#cloud-config\n{"));
  EXPECT_THAT(seed.at("user-data"),
              HasSubstr("CUPEL_HOME='http://10.0.0.1/home/x' CUPEL_IMAGE='debian-12' "));
  EXPECT_EQ(seed.at("network-config"),
            R"({"version":2,"ethernets":{"boot0":{"match":{"macaddress":"52:54:00:00:00:01"},)"
            R"("addresses":["10.0.2.11/24"],"routes":[{"to":"0.0.0.0/0","via":"10.0.2.1"}],)"
            R"("set-name":"boot0"}}})"
            "\n");
}

}  // namespace
}  // namespace cupel::steps
