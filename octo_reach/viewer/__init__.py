"""The view in a browser: what it shows, and what people ask of it. No ROS, nothing but viser.

    snapshot    what is to be seen at one moment, as plain values
    orders      what people ask for with the pointer and the panel, until somebody takes it
    window      the whole page: hand it a snapshot, take the orders from it
    arms, objects, touches, overlays
                the scene, part by part
    panel, plots
                what stands beside the scene
    shapes, pointing
                the geometry of what is drawn, and of what is pointed at
    address, server
                where the page is found
    gate, faults
                what a page may tell, and what becomes of it when something goes wrong

The node `octo_reach.nodes.viewer` makes the snapshots out of topics and sends the orders as
messages. Nothing here remembers where an arm or an object is: what is seen is the last snapshot.
"""
