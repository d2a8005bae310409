"""The papers: their figures that are measured again, and their own results. The results are facts of the
papers, in our words; every one has its place in the paper."""

import dataclasses


@dataclasses.dataclass
class Figure:
    name: str  # of the file in build/figures/PAPER
    title: str
    paper: str  # the paper's own result; empty if the paper has no such figure


@dataclasses.dataclass
class Paper:
    name: str  # bench/figures.sh --paper NAME; `apps` is bench/apps.sh
    title: str
    source: str
    figures: tuple
    results: tuple  # (what, the paper's figure, where)


HOST_ASSISTED = ("Tipparaju, Santhanaraman, Nieplocha, Panda: Host-Assisted Zero-Copy Remote Memory Access Communication "
                 "on InfiniBand, IPDPS 2004")

PAPERS = (
    Paper("host-assisted", "Host-assisted zero-copy transfers", HOST_ASSISTED, (
        Figure("figure05", "Contiguous transfers, target idle",
               "figure 5: zero-copy is fastest, pipelined next, buffered last. Peaks are 830 MB/s (put) and 765 MB/s (get), "
               "about those of the bare link"),
        Figure("figure06", "Contiguous transfers, target computing",
               "figure 6: zero-copy keeps its bandwidth; the two that copy lose most of theirs"),
        Figure("figure07a", "Overlap, contiguous", "figure 7a: about 99 % for large messages with zero-copy"),
        Figure("figure07b", "Overlap, two-dimensional", "figure 7b: up to 95 % with host assistance"),
        Figure("figure09", "Strided transfers, target idle",
               "figure 9: host-assisted is far above buffered, more so with long segments"),
        Figure("figure10", "Strided transfers, target computing",
               "figure 10: host-assisted is unchanged; buffered drops"),
        Figure("section43", "Read-modify-write of 8 bytes", "section 4.3: 17.1 us by the device, 22.1 us by the server"),
    ), (
        ("put latency, and that of the bare verbs", "6.2 us, 5.46 us", "table 1"),
        ("get latency, and that of the bare verbs", "12.3 us, 12.2 us", "table 1"),
        ("peak bandwidth, put and get", "830 MB/s, 765 MB/s", "section 4.1"),
        ("overlap of large messages, contiguous and noncontiguous", "99 %, 95 %", "sections 4.2 and 5.4"),
        ("fetch-and-add by the device, compared with the server", "-23 %", "section 4.3"),
    )),
    Paper("eager-ring", "Messages by RDMA rings",
          "Liu, Wu, Kini, Wyckoff, Panda: High Performance RDMA-Based MPI Implementation over InfiniBand, ICS 2003", (
              Figure("figure09", "Latency, ring", "figure 9: latency of the RDMA design by size"),
              Figure("figure10", "Bandwidth, ring", "figure 10: bandwidth of the RDMA design by size"),
              Figure("figure11", "Latency by channel", "figure 11: rings save 24 % of a small message's latency"),
              Figure("figure12", "Bandwidth by channel, small messages", "figure 12: rings more than double it (+104 %)"),
              Figure("figure13", "Bandwidth by channel, large messages", "figure 13: rings are ahead at every size"),
              Figure("figure14", "Host overhead by channel", "figure 14: rings save up to 22 %"),
              Figure("rate", "Message rate by channel", ""),
              Figure("figure20", "One look at all rings", "figure 20: 0.14 us for 16 connections, 1.3 us for 128"),
          ), (
              ("small-message latency, ring compared with send/receive", "-24 %", "section 6.3.1"),
              ("small-message bandwidth", "+104 %", "section 6.3.1"),
              ("host overhead", "-22 %", "section 6.3.1"),
              ("polling of 16 and of 128 connections", "0.14 us, 1.3 us", "section 6.4"),
          )),
    Paper("pipeline", "Protocols of long messages",
          "Woodall, Shipman, Bosilca, Graham, Maccabe: High Performance RDMA Protocols in HPC, EuroPVM/MPI 2006", (
              Figure("figure5", "No reuse of buffers", "figure 5: the pipeline is up to 67 % above the registration cache"),
              Figure("figure6", "Reuse of buffers",
                     "figure 6: the cache catches up after 40 to 50 uses; the caching pipeline rises much earlier"),
              Figure("b_eff", "Effective bandwidth of all ranks",
                     "section 6.2: caching pipeline 1803, pipeline 1509, cache 1375, copy 1369 MB/s"),
          ), (
              ("pipeline compared with cache, no reuse", "up to +67 %", "section 6.1"),
              ("uses until the cache is as fast as the pipeline, 8 MB", "40 to 50", "section 6.1"),
              ("b_eff: caching pipeline, pipeline, cache, copy", "1803, 1509, 1375, 1369 MB/s", "section 6.2"),
          )),
    Paper("scalability", "Memory and latency by the number of peers",
          "Shipman, Woodall, Graham, Maccabe: InfiniBand Scalability in Open MPI, IPDPS 2006", (
              Figure("figure04", "Memory of a process, no communication", "figure 4: constant with connections on demand"),
              Figure("figure05", "Memory of a process, pairwise", "figure 5: constant, for the same reason"),
              Figure("figure06", "Memory of a process, all to all",
                     "figure 6: grows with the peers, slowest with a shared receive queue"),
              Figure("figure07", "Latency of 8 B by active peers",
                     "figure 7: polled RDMA is ahead with few peers and falls behind with many"),
          ), (
              ("memory without traffic and with pairwise traffic", "constant", "section 6.1"),
              ("memory with all-to-all traffic", "grows slower with a shared receive queue", "section 6.1"),
              ("latency of two processes: polled RDMA, send/receive", "4.19 us, 5.64 us", "table 1"),
          )),
    Paper("allgather", "MPI_Allgather by RDMA",
          "Sur, Bondhugula, Mamidala, Jin, Panda: High Performance RDMA Based All-to-all Broadcast for InfiniBand Clusters, "
          "OSU-CISRC-5/05-TR32, 2005", (
              Figure("cache-4", "MPI_Allgather on 4 hosts, with reuse of buffers",
                     "figure 5: 30 % less latency at 32 KB on 32 processes"),
              Figure("register-4", "MPI_Allgather on 4 hosts, without reuse",
                     "figure 8: 4.75 times faster at 32 KB on 32 processes"),
              Figure("cache-hosts", "MPI_Allgather of 32 KiB, with reuse of buffers",
                     "figure 7a: the gain grows with the number of processes"),
              Figure("register-hosts", "MPI_Allgather of 32 KiB, without reuse", ""),
          ), (
              ("32 KB on 32 processes, compared with point to point", "-30 %", "section 5.1"),
              ("the same without reuse of buffers", "4.75 times faster", "section 5.2"),
          )),
    Paper("apps", "Applications: NAS MG and SUMMA", HOST_ASSISTED, (
        Figure("apps", "MG and SUMMA", "figures 11 and 12: one-sided is faster in every problem"),
    ), (
        ("NAS MG, class A and class B, over MPI", "14 to 25 %, 14 to 27 % faster", "section 6"),
        ("SUMMA, host-assisted over MPI", "18 to 80 % faster", "section 6"),
    )),
)
