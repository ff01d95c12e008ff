// What a serial console says about a boot that does not come, from lines that firmware, boot
// loaders and kernels write.
#include "orchestrator/os/console_cause.h"

#include <gmock/gmock.h>

namespace cupel::os {
namespace {

std::string id_of(std::string_view text) {
  const auto cause = console_cause(text);
  return cause ? std::string{cause->row->id} : "";
}

TEST(ConsoleCause, NamesWhatFirmwareSaysWhenItCannotFetch) {
  EXPECT_EQ(id_of(">>Start HTTP Boot over IPv4....\r\n  Error: Could not detect network "
                  "connection.\r\n"),
            "no-link");
  EXPECT_EQ(id_of("PXE-E61: Media test failure, check cable\r\n"), "no-link");
  EXPECT_EQ(id_of("PXE-E51: No DHCP or proxyDHCP offers were received.\r\n"), "dhcp-silent");
  EXPECT_EQ(id_of(">>Start PXE over IPv4.\r\n  PXE-E16: No valid offer received.\r\n"),
            "dhcp-silent");
  EXPECT_EQ(id_of(">>Start PXE over IPv4.\r\n PXE-E18: Server response timeout.\r\n"),
            "dhcp-no-file");
  EXPECT_EQ(id_of("PXE-E32: TFTP open timeout\r\n"), "tftp-timeout");
  EXPECT_EQ(id_of("  PXE-E23: Client received TFTP error from server.\r\n"), "tftp-error");
  EXPECT_EQ(id_of(">>Start HTTP Boot over IPv4....\r\n  Station IP address is 10.0.2.11\r\n"
                  "  Error: Could not retrieve NBP file size from HTTP server.\r\n"),
            "http-error");
  EXPECT_EQ(id_of("  Error: Server response timeout.\r\n"), "http-timeout");
  EXPECT_EQ(
      id_of("http://10.0.0.1/boot.ipxe... Connection timed out (http://ipxe.org/4c0a6092)\r\n"),
      "http-timeout");
}

TEST(ConsoleCause, NamesSecureBootByTheRefusalOfTheBootManager) {
  EXPECT_EQ(id_of("BdsDxe: failed to load Boot0001 \"UEFI HTTPv4 (MAC:525400BEEF01)\" from "
                  "PciRoot(0x0)/Pci(0x2,0x0)/MAC(525400BEEF01,0x1)/IPv4(0.0.0.0)/Uri(): Access "
                  "Denied\r\n"),
            "secure-boot");
}

TEST(ConsoleCause, NamesABootFileOfAnotherArchitecture) {
  EXPECT_EQ(id_of("http://10.0.0.1:8081/boot/vmlinuz... ok\r\n"
                  "Could not select: Exec format error (http://ipxe.org/2e008081)\r\n"),
            "wrong-arch");
  EXPECT_EQ(id_of("Image type X64 can't be loaded on AARCH64 UEFI system.\r\n"), "wrong-arch");
}

TEST(ConsoleCause, NamesAClockByWhichTheCertificateDoesNotHold) {
  const auto cause = console_cause(
      "CUPEL failed clock: hello: this machine's clock says 1996-02-01 00:00 UTC, and curl: exit "
      "status 60: curl: (60) SSL certificate problem: certificate is not yet valid\r\n"
      "CUPEL [41.31] boot client ended with 2: this machine stays up\r\n");

  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->row->id, "clock");
  EXPECT_TRUE(cause->row->ends);
}

TEST(ConsoleCause, NamesWhereABootHasStopped) {
  EXPECT_EQ(id_of("UEFI Interactive Shell v2.2\r\nEDK II\r\nShell> "), "uefi-shell");
  EXPECT_EQ(id_of("BdsDxe: No bootable option or device was found.\r\n"), "no-boot-device");
  EXPECT_EQ(id_of("   GNU GRUB  version 2.06-13\r\n   Minimal BASH-like line editing is "
                  "supported. For the first word, TAB\r\ngrub> "),
            "grub-prompt");
  EXPECT_EQ(id_of("error: no such partition.\r\nEntering rescue mode...\r\ngrub rescue> "),
            "grub-prompt");
  EXPECT_EQ(id_of("[    1.803] Kernel panic - not syncing: Attempted to kill init! "
                  "exitcode=0x00000100\r\n"),
            "kernel-panic");
  EXPECT_EQ(id_of("[    1.2] Kernel panic - not syncing: VFS: Unable to mount root fs on "
                  "unknown-block(0,0)\r\n"),
            "no-root-device");
  EXPECT_EQ(id_of("ALERT!  UUID=3c1d-ab does not exist.  Dropping to a shell!\r\n"),
            "no-root-device");
  EXPECT_TRUE(console_cause("grub rescue> ")->row->ends);
}

TEST(ConsoleCause, NamesWhereDebiansInstallerAsks) {
  EXPECT_EQ(id_of("[!!] Configure the network\r\n\r\nNetwork autoconfiguration failed\r\n"),
            "dhcp-silent");
  EXPECT_EQ(id_of("No network interfaces detected\r\n"), "no-driver");
  EXPECT_EQ(id_of("Failed to retrieve the preconfiguration file\r\n"), "no-answer-file");
  EXPECT_EQ(id_of("Failed to run preseeded command\r\n"), "installer-command");
  EXPECT_EQ(id_of("Bad archive mirror\r\n"), "mirror");
}

TEST(ConsoleCause, FindsALineThatEscapeSequencesCut) {
  const auto cause = console_cause(
      "\x1b[2J\x1b[01;01H\x1b[0m\x1b[37m\x1b[40m  PXE-E18: Ser\x1b[0mver response timeout.\r\n");

  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->line, "PXE-E18: Server response timeout.");
}

TEST(ConsoleCause, PrefersWhatEndedTheBootToWhatWasTriedBefore) {
  EXPECT_EQ(id_of("PXE-E18: Server response timeout.\r\nUEFI Interactive Shell v2.2\r\n"
                  "PXE-E61: Media test failure\r\n"),
            "uefi-shell");
  EXPECT_EQ(id_of("PXE-E18: Server response timeout.\r\nPXE-E61: Media test failure\r\n"),
            "no-link");
}

TEST(ConsoleCause, IsWhatFailedBeforeNothingElseWasThereToBoot) {
  const auto cause = console_cause(
      "Error: Server response timeout.\r\n"
      "BdsDxe: No bootable option or device was found.\r\n");

  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->row->id, "http-timeout");
  EXPECT_TRUE(cause->ends) << "the boot is over, whatever it failed at";
}

TEST(ConsoleCause, NamesWhatTheRamSystemGivesUpAt) {
  EXPECT_EQ(id_of("CUPEL [41.20] no address by DHCP yet: eth0 no link\r\n"), "dhcp-silent");
  const auto cause = console_cause(
      "CUPEL [41.20] no address by DHCP yet: eth0 link\r\n"
      "CUPEL failed no-ticket: no ticket of a boot server in cupel.boot=\r\n"
      "CUPEL [41.31] boot client ended with 2: this machine stays up\r\n");
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->row->id, "ram-system");
  EXPECT_TRUE(cause->row->ends);
  EXPECT_THAT(to_string(*cause), ::testing::HasSubstr("CUPEL failed no-ticket: no ticket of"));
}

TEST(ConsoleCause, IsNothingWhereABootGoesWell) {
  EXPECT_FALSE(console_cause(
      "BdsDxe: loading Boot0006 \"Cupel OS\" from HD(1,GPT)/\\EFI\\debian\\shimx64.efi\r\n"
      "BdsDxe: starting Boot0006 \"Cupel OS\"\r\n[    0.000000] Linux version 6.1.0-56\r\n"
      "a01-n01 login: "));
  EXPECT_FALSE(console_cause(""));
  EXPECT_FALSE(console_cause("\x1b["));
}

TEST(ConsoleCause, EveryRowIsInLowerCaseAndSaysWhatToDo) {
  for (const auto& row : console_causes()) {
    EXPECT_FALSE(row.advice.empty()) << row.line;
    for (const char c : row.line) EXPECT_FALSE(c >= 'A' && c <= 'Z') << row.line;
  }
}

}  // namespace
}  // namespace cupel::os
