"""Two nodes of a Ray cluster on this machine, a core each, in a process of their own.

python ray_nodes.py prints the address; for each line that it reads, `lose` or `join`, the
second node is killed or another one joins. It ends with its input.
"""

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False},
    )
    second = cluster.add_node(num_cpus=1)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line == "lose\n":
            cluster.remove_node(second, allow_graceful=False)
        else:
            second = cluster.add_node(num_cpus=1)
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
